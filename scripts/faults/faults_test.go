// Every fault once, small.

package main

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
)

func TestMain(m *testing.M) {
	quiet()
	goleak.VerifyTestMain(m)
}

var small = bout.Scale{
	Hold: 500 * time.Millisecond, Freeze: 2 * time.Second, SlowList: 3 * time.Second,
	Many: 500, Impatient: true, Patience: time.Minute,
}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	const seed, rate = 20240529, 300
	a, err := open(t.Context(), seed, rate, small, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	var broken error // the ground: no further fault makes sense
	for _, fault := range catalog.All() {
		if broken != nil {
			return
		}
		t.Run(fault.Name, func(t *testing.T) {
			var results outcome
			if results, broken = a.run(t.Context(), fault); broken != nil {
				t.Fatal(broken)
			}
			for _, r := range results {
				tell(t.Output(), r)
				if r.Verdict != nil && r.Beyond == "" {
					t.Errorf("%s: %d things wrong:\n%v", r.Subject, r.Wrong, r.Verdict)
				}
				if r.Verdict == nil && r.Beyond != "" {
					t.Errorf("%s survives after all, though it is said of it: %s", r.Subject, r.Beyond)
				}
			}
		})
	}
}
