//go:build browser

// The past: the page goes back in time.

package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// readMessages reads the messages of the program until the store has so many objects. It sends to
// begun when it has the first message.
func readMessages(t *testing.T, program *Program, begun chan<- struct{}, objects int) (all []message) {
	events, err := get(t.Context(), program.URL+"/events")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer events.Close()
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 2<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Error(err)
		}
		all = append(all, m)
		if len(all) == 1 {
			begun <- struct{}{}
		}
		if m.Set.Store.Objects == objects {
			return all
		}
	}
	t.Errorf("the program has ended its events before the store had %d objects: %v", objects, lines.Err())
	return nil
}

// The page shows each moment of the past as it was.
func TestGoingBackInTime(t *testing.T) {
	program := serve(t)
	p := visit(t, program.URL, Display{})
	begun, recorded := make(chan struct{}, 1), make(chan []message, 1)
	go func() { recorded <- readMessages(t, program, begun, 4) }()
	<-begun
	for range 3 {
		must.NoError(t, p.Press("create"))
	}
	all := <-recorded
	until(t, p, "the page has all of it", fmt.Sprint(`Number(document.body.dataset.seq) >= `, all[len(all)-1].Seq))
	must.NoError(t, p.Click("#pause"))
	until(t, p, "it is paused", `document.body.dataset.mode === "paused"`)

	seen, later := map[int]bool{}, 4
	for {
		seq := eval[int](t, p, `Number(document.body.dataset.seq)`)
		for len(all) > 1 && all[len(all)-1].Seq > seq {
			all = all[:len(all)-1]
		}
		// Two messages of this test may have come to the page as one. Then the page has the state
		// of the later message.
		atLeast := all[len(all)-1].Set.Store.Objects
		until(t, p, fmt.Sprintf("the store has %d to %d objects after record %d", atLeast, later, seq),
			fmt.Sprintf(`%[1]s >= %[2]d && %[1]s <= %[3]d`, Field("store", "objects"), atLeast, later))
		later = number(t, p, "store", "objects")
		seen[later] = true
		if seq <= all[0].Seq {
			break
		}
		must.NoError(t, p.Click("#back"))
		until(t, p, "it has gone back", fmt.Sprint(`Number(document.body.dataset.seq) < `, seq))
	}
	if len(seen) < 3 {
		t.Errorf("on its way back the page has shown %v objects, want at least 3 different numbers", seen)
	}
	if later != 1 {
		t.Errorf("at the first record the page shows %d objects, want 1", later)
	}
	must.NoError(t, p.Click("#forward"))
	must.NoError(t, p.Press("create")) // while the page is paused, records are kept
	until(t, p, "it says how many wait", `document.querySelector("#waiting").innerText.includes("waiting")`)
	must.NoError(t, p.Click("#live"))
	until(t, p, "it is live again", `document.body.dataset.mode === "live"`)
	until(t, p, "the last one is there", Field("store", "objects")+` === "5"`)
}
