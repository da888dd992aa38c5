// The captions.

package recorder

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
)

func TestCaptions(t *testing.T) {
	a1, a2, other := configMap("a", "1", ""), configMap("a", "2", ""), configMap("a", "2", "")
	other.UID = "another"
	for _, test := range []struct {
		before []any
		event  any
		want   string // "" for none
	}{
		{
			event: observer.Listing{Stream: true},
			want:  "The reflector asks for a list, streamed over the watch.",
		}, {
			event: observer.Listing{},
			want:  "The reflector asks for a list.",
		}, {
			before: []any{observer.Listed{Version: "5"}},
			event:  observer.Listing{Version: "5"},
			want:   "The reflector asks for a list again (a relist).",
		}, {
			before: []any{observer.Listing{Stream: true}},
			event:  observer.Listed{Objects: 1},
			want:   "The streamed list is complete, 1 object, and its watch goes on.",
		}, {
			before: []any{observer.Listing{}},
			event:  observer.Listed{Objects: 2, Version: "5"},
			want:   "The list is there: 2 objects, as of version 5.",
		}, {
			event: observer.Watching{Version: "5"},
			want:  "The reflector asks for a watch from version 5: what it missed since comes as events.",
		}, {
			before: []any{observer.Bookmark{Version: "7"}},
			event:  observer.Ended{},
			want:   "The watch has ended, without an error. Another one can go on from version 7.",
		}, {
			event: observer.Ended{Err: errors.New("no")},
			want:  "The connection is lost, or the list or the watch failed. The store stays as it was.",
		}, {
			event: observer.LeftOut{Err: errors.New("Unexpected watch event object type")},
			want:  "An event is left out: Unexpected watch event object type.",
		}, {
			event: informer.Refused{Err: errors.New("no")},
			want:  "A change is left out: no.",
		}, {
			event: observer.Expired{Err: errors.New("no")},
			want:  "410 Expired: the server no longer has this version. Only a new list helps.",
		}, {
			event: observer.BackingOff{Pause: 1234 * time.Millisecond},
			want:  "The reflector waits 1.2s before it tries again.",
		}, {
			event: stored(processor.Deleted, a1, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: a1}),
			want:  "a is not in the list: handlers get a tombstone, with its last known state.",
		}, {
			event: stored(processor.Updated, a1, other),
			want:  "a was deleted and created again while nobody watched: that is one update, to another UID.",
		}, {
			before: []any{stored(processor.Added, nil, a1), stored(processor.Deleted, a1, a1)},
			event:  stored(processor.Added, nil, other),
			want:   "a was deleted and created again: a delete, then an add, with another UID.",
		}, {
			before: []any{HandlerJoined{"slow"}},
			event:  handlerFolded{"slow", 97, 3},
			want:   "slow is far behind: 100 notifications became 3.",
		}, {
			before: []any{
				HandlerJoined{"slow"},
				HandlerCalled{Name: "slow"},
				handlerFolded{"slow", 1997, 3},
				HandlerCalled{Name: "slow", Waiting: 1},
			},
			event: HandlerCalled{Name: "slow"},
			want:  "slow has caught up, with 2 calls; 1,997 more were folded away.",
		}, {
			before: []any{stored(processor.Added, nil, a1)},
			event:  HandlerJoined{"late"},
			want:   "late joins late. It gets 1 initial add from the store.",
		}, {
			event: HandlerRemoved{"late"},
			want:  "late is removed. What waited for it is dropped.",
		},

		{event: stored(processor.Updated, a1, a2)},
		{event: stored(processor.Deleted, a1, a1)},
		{event: HandlerJoined{"early"}},
		{event: HandlerCalled{Name: "slow"}},
		{event: observer.Bookmark{}},
	} {
		r := newRecorder()
		r.feed(test.before...)
		r.feed(test.event)
		if got := r.lastCaption(t); got != test.want {
			t.Errorf("%+v after %d events: caption = %q, want %q", test.event, len(test.before), got, test.want)
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
		Slow:    "h takes 200ms for each call. The others do not wait for it.",
		Stalled: "h stalls: its next call does not return. The others do not wait for it.",
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
		r.feed(HandlerJoined{"slow"})
		for range 121 {
			r.feed(handlerFolded{"slow", 5, 3})
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
