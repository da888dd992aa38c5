// The state of client-go's informer, which has no observer: its source reports what passes.

package recorder

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/informer/03-reflector/observer"
)

// A clientGoState follows what client-go's informer receives.
type clientGoState struct {
	received int              // objects of lists, and events
	known    sets.Set[string] // the keys in its store
	listed   sets.Set[string] // the keys of a list that is not complete yet
}

func newClientGoState() clientGoState {
	return clientGoState{known: sets.New[string](), listed: sets.New[string]()}
}

// receive applies an event of the source. It returns how many notifications each handler gets
// because of it.
func (c *clientGoState) receive(e *event) (notifications int) {
	switch e.Kind {
	case observer.Listing:
		clear(c.listed)
	case observer.Received:
		c.received++
		if e.Initial {
			c.listed.Insert(e.Key)
			return 0 // the handlers get the list when it is complete
		}
		if e.Type == "DELETED" {
			c.known.Delete(e.Key)
		} else {
			c.known.Insert(e.Key)
		}
		return 1
	case observer.Listed:
		// A handler gets each object of the list, and a tombstone for each known object that the
		// list lacks.
		notifications = c.listed.Union(c.known).Len()
		c.known, c.listed = c.listed, sets.New[string]()
	}
	return notifications
}

// A clientGoView is client-go's informer as the page shows it.
type clientGoView struct {
	Received int `json:"received"`
	Objects  int `json:"objects"`
}

func (c *clientGoState) station() clientGoView {
	return clientGoView{Received: c.received, Objects: c.known.Len()}
}
