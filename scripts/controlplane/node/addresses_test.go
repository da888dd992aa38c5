// Tests of the addresses that the node hands out.

package node

import (
	"fmt"
	"net/netip"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAddressesAreUniqueAndRest(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("10.0.0.0/29")) // .2 to .6 are for pods
	take := func(pod types.UID, want string) {
		t.Helper()
		got, err := a.take(pod)
		if err != nil || got.String() != want {
			t.Errorf("take(%s) = %v, %v; want %s", pod, got, err, want)
		}
	}
	take("a", "10.0.0.2")
	take("b", "10.0.0.3")
	take("a", "10.0.0.2") // the same when asked again
	a.release("a")
	take("c", "10.0.0.4") // the one given back waits for its turn
	take("d", "10.0.0.5")
	take("e", "10.0.0.6")
	take("f", "10.0.0.2")
	if got, err := a.take("g"); err == nil {
		t.Errorf("take from a full range = %v; want an error", got)
	}
	a.release("b")
	take("g", "10.0.0.3")
	a.release("nobody")
}

func TestAddressesKeepWhatIsThere(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("10.0.0.0/24"))
	a.keep("old", "10.0.0.2")
	a.keep("twin", "10.0.0.2")     // taken
	a.keep("old", "10.0.0.9")      // has one
	a.keep("foreign", "127.0.0.1") // not of the range
	a.keep("broken", "none")
	for i, want := range []string{"10.0.0.3", "10.0.0.4"} {
		if got, err := a.take(types.UID(fmt.Sprint(i))); err != nil || got.String() != want {
			t.Errorf("take = %v, %v; want %s", got, err, want)
		}
	}
	a.release("old")
	if len(a.taken) != 2 || len(a.byPod) != 2 {
		t.Errorf("after the release: %d addresses, %d pods; want 2 and 2", len(a.taken), len(a.byPod))
	}
}
