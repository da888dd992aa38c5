package informer

import (
	"fmt"
	"testing"

	"example.com/informer/scripts/harness/fakeapi"
)

// Only the latest refused versions are kept, even if no list comes.
func TestRefusedVersionsAreBounded(t *testing.T) {
	var r refusals
	for version := range 3 * keptRefusals {
		r.add(fakeapi.ConfigMap("a", fmt.Sprint(version)))
	}
	if got := len(r.versions); got != keptRefusals {
		t.Errorf("%d versions are kept, want %d", got, keptRefusals)
	}
	for version, want := range map[int]bool{
		0:                  false,
		2*keptRefusals - 1: false,
		2 * keptRefusals:   true,
		3*keptRefusals - 1: true,
	} {
		if got := r.contains(fmt.Sprint(version)); got != want {
			t.Errorf("contains(%d) = %t, want %t", version, got, want)
		}
	}
}
