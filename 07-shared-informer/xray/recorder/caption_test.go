// The words of each caption.

package recorder

import (
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

func TestCaptions(t *testing.T) {
	a1, a2, other := configMap("a", "1", ""), configMap("a", "2", ""), configMap("a", "2", "")
	other.UID = "another"
	stored := func(kind string, before, after any) observer.Event {
		return observer.Event{Kind: observer.Stored, Type: kind, Key: "ns/a", Old: before, New: after}
	}
	for _, test := range []struct {
		before []observer.Event
		event  observer.Event
		want   string
	}{
		{nil, observer.Event{Kind: observer.Listing, Stream: true},
			"The reflector asks for a list, streamed over the watch."},
		{nil, observer.Event{Kind: observer.Listing}, "The reflector asks for a list."},
		{[]observer.Event{{Kind: observer.Listed, Version: "5"}},
			observer.Event{Kind: observer.Listing, Version: "5"},
			"The reflector asks for a list again (a relist)."},
		{[]observer.Event{{Kind: observer.Listing, Stream: true}}, observer.Event{Kind: observer.Listed, Count: 1},
			"The streamed list is complete, 1 object, and its watch goes on."},
		{[]observer.Event{{Kind: observer.Listing}},
			observer.Event{Kind: observer.Listed, Count: 2, Version: "5"},
			"The list is there: 2 objects, as of version 5."},
		{nil, observer.Event{Kind: observer.Watching, Version: "5"},
			"The reflector asks for a watch from version 5: what it missed since comes as events."},
		{[]observer.Event{{Kind: observer.Bookmark, Version: "7"}}, observer.Event{Kind: observer.Ended},
			"The watch has ended, without an error. Another one can go on from version 7."},
		{nil, observer.Event{Kind: observer.Ended, Err: errors.New("no")},
			"The connection is lost, or the list or the watch failed. The store stays as it was."},
		{nil, observer.Event{Kind: observer.LeftOut, Err: errors.New("Unexpected watch event object type")},
			"An event is left out: Unexpected watch event object type."},
		{nil, observer.Event{Kind: observer.Expired, Err: errors.New("no")},
			"410 Expired: the server no longer has this version. Only a new list helps."},
		{nil, observer.Event{Kind: observer.BackingOff, Took: 1234 * time.Millisecond},
			"The reflector waits 1.2s before it tries again."},
		{nil, stored("DELETED", a1, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: a1}),
			"a is not in the list: handlers get a tombstone, with its last known state."},
		{nil, stored("MODIFIED", a1, other),
			"a was deleted and created again while nobody watched: that is one update, to another UID."},
		{[]observer.Event{stored("ADDED", nil, a1), stored("DELETED", a1, a1)}, stored("ADDED", nil, other),
			"a was deleted and created again: a delete, then an add, with another UID."},
		{[]observer.Event{{Kind: observer.Joined, Handler: "slow"}},
			observer.Event{Kind: observer.Folded, Handler: "slow", Count: 97, Waiting: 3},
			"slow is far behind: 100 notifications became 3."},
		{[]observer.Event{{Kind: observer.Joined, Handler: "slow"}, {Kind: observer.Called, Handler: "slow"},
			{Kind: observer.Folded, Handler: "slow", Count: 1997, Waiting: 3},
			{Kind: observer.Called, Handler: "slow", Waiting: 1}},
			observer.Event{Kind: observer.Called, Handler: "slow"},
			"slow has caught up, with 2 calls; 1,997 more were folded away."},
		{[]observer.Event{stored("ADDED", nil, a1)}, observer.Event{Kind: observer.Joined, Handler: "late"},
			"late joins late. It gets 1 initial add from a snapshot of the store."},
		{nil, observer.Event{Kind: observer.Removed, Handler: "late"},
			"late is removed. What waited for it is dropped."},
		{nil, observer.Event{Kind: paceSet, Handler: "slow", Type: Slow},
			"slow takes 200ms for each call. The others are not held up."},

		{nil, stored("MODIFIED", a1, a2), ""},
		{nil, stored("DELETED", a1, a1), ""},
		{nil, observer.Event{Kind: observer.Joined, Handler: "early"}, ""},
		{nil, observer.Event{Kind: observer.Called, Handler: "slow"}, ""},
		{nil, observer.Event{Kind: observer.Bookmark}, ""},
	} {
		r := scripted()
		r.feed(test.before...)
		r.feed(test.event)
		records := r.records(t)
		if got, _ := records[len(records)-1].Caption["text"].(string); got != test.want {
			t.Errorf("%s %s:\ngot  %q\nwant %q", test.event.Kind, test.event.Type, got, test.want)
		}
	}
}
