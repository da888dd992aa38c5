// The captions.

package recorder

import (
	"errors"
	"testing"
	"testing/synctest"
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
		want   string // "" for none
	}{
		{
			event: observer.Event{Kind: observer.Listing, Stream: true},
			want:  "The reflector asks for a list, streamed over the watch.",
		}, {
			event: observer.Event{Kind: observer.Listing},
			want:  "The reflector asks for a list.",
		}, {
			before: []observer.Event{{Kind: observer.Listed, Version: "5"}},
			event:  observer.Event{Kind: observer.Listing, Version: "5"},
			want:   "The reflector asks for a list again (a relist).",
		}, {
			before: []observer.Event{{Kind: observer.Listing, Stream: true}},
			event:  observer.Event{Kind: observer.Listed, Count: 1},
			want:   "The streamed list is complete, 1 object, and its watch goes on.",
		}, {
			before: []observer.Event{{Kind: observer.Listing}},
			event:  observer.Event{Kind: observer.Listed, Count: 2, Version: "5"},
			want:   "The list is there: 2 objects, as of version 5.",
		}, {
			event: observer.Event{Kind: observer.Watching, Version: "5"},
			want:  "The reflector asks for a watch from version 5: what it missed since comes as events.",
		}, {
			before: []observer.Event{{Kind: observer.Bookmark, Version: "7"}},
			event:  observer.Event{Kind: observer.Ended},
			want:   "The watch has ended, without an error. Another one can go on from version 7.",
		}, {
			event: observer.Event{Kind: observer.Ended, Err: errors.New("no")},
			want:  "The connection is lost, or the list or the watch failed. The store stays as it was.",
		}, {
			event: observer.Event{Kind: observer.LeftOut, Err: errors.New("Unexpected watch event object type")},
			want:  "An event is left out: Unexpected watch event object type.",
		}, {
			event: observer.Event{Kind: observer.Expired, Err: errors.New("no")},
			want:  "410 Expired: the server no longer has this version. Only a new list helps.",
		}, {
			event: observer.Event{Kind: observer.BackingOff, Took: 1234 * time.Millisecond},
			want:  "The reflector waits 1.2s before it tries again.",
		}, {
			event: stored("DELETED", a1, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: a1}),
			want:  "a is not in the list: handlers get a tombstone, with its last known state.",
		}, {
			event: stored("MODIFIED", a1, other),
			want:  "a was deleted and created again while nobody watched: that is one update, to another UID.",
		}, {
			before: []observer.Event{stored("ADDED", nil, a1), stored("DELETED", a1, a1)},
			event:  stored("ADDED", nil, other),
			want:   "a was deleted and created again: a delete, then an add, with another UID.",
		}, {
			before: []observer.Event{{Kind: observer.Joined, Handler: "slow"}},
			event:  observer.Event{Kind: observer.Folded, Handler: "slow", Count: 97, Waiting: 3},
			want:   "slow is far behind: 100 notifications became 3.",
		}, {
			before: []observer.Event{
				{Kind: observer.Joined, Handler: "slow"},
				{Kind: observer.Called, Handler: "slow"},
				{Kind: observer.Folded, Handler: "slow", Count: 1997, Waiting: 3},
				{Kind: observer.Called, Handler: "slow", Waiting: 1},
			},
			event: observer.Event{Kind: observer.Called, Handler: "slow"},
			want:  "slow has caught up, with 2 calls; 1,997 more were folded away.",
		}, {
			before: []observer.Event{stored("ADDED", nil, a1)},
			event:  observer.Event{Kind: observer.Joined, Handler: "late"},
			want:   "late joins late. It gets 1 initial add from a snapshot of the store.",
		}, {
			event: observer.Event{Kind: observer.Removed, Handler: "late"},
			want:  "late is removed. What waited for it is dropped.",
		},

		{event: stored("MODIFIED", a1, a2)},
		{event: stored("DELETED", a1, a1)},
		{event: observer.Event{Kind: observer.Joined, Handler: "early"}},
		{event: observer.Event{Kind: observer.Called, Handler: "slow"}},
		{event: observer.Event{Kind: observer.Bookmark}},
	} {
		r := newRecorder()
		r.feed(test.before...)
		r.feed(test.event)
		if got := r.lastCaption(t); got != test.want {
			t.Errorf("%s %s after %d events: caption = %q, want %q", test.event.Kind, test.event.Type,
				len(test.before), got, test.want)
		}
	}
}

// lastCaption returns the text of the caption of the last record, or "" if it has none.
func (r *Recorder) lastCaption(t *testing.T) string {
	t.Helper()
	records := r.records(t)
	if last := records[len(records)-1].Caption; last != nil {
		return last.Text
	}
	return ""
}

func TestCaptionsOfSpeeds(t *testing.T) {
	for speed, want := range map[Speed]string{
		Fast:    "",
		Slow:    "h takes 200ms for each call. The others are not held up.",
		Stalled: "h stalls: its next call does not return. The others are not held up.",
	} {
		r := newRecorder()
		r.RecordSpeed("h", speed)
		r.tick()
		if got := r.lastCaption(t); got != want {
			t.Errorf("%s: caption = %q, want %q", speed, got, want)
		}
	}
}

// While a handler stays far behind, a caption says so once a minute, not at each fold.
func TestFoldingIsMentionedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		r.feed(observer.Event{Kind: observer.Joined, Handler: "slow"})
		for range 121 {
			r.feed(observer.Event{Kind: observer.Folded, Handler: "slow", Count: 5, Waiting: 3})
			time.Sleep(time.Second)
		}
		captions := 0
		for _, record := range r.records(t) {
			if record.Caption != nil {
				captions++
			}
		}
		if captions != 3 {
			t.Errorf("%d captions in two minutes, want 3", captions)
		}
	})
}
