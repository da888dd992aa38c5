// How a reflector takes the end of a watch.

package reflector

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// An endedWatch is a watch that has ended. It calls giveUp when somebody reads it on and on.
type endedWatch struct {
	watch.Interface
	reads  int // how often its channel was asked for
	giveUp func()
}

const (
	tooManyReads = 1000
	patience     = time.Hour // in fake time
)

func (w *endedWatch) ResultChan() <-chan watch.Event {
	w.reads++
	if w.reads == tooManyReads {
		w.giveUp()
	}
	return w.Interface.ResultChan()
}

// The end of a watch is not an error, and the next watch resumes. It is an error only if the watch ends
// at once and has sent nothing: then a pause and a list follow. Without them, a server that ends
// all its watches would get requests as fast as it can answer.
func TestTheEndOfAWatch(t *testing.T) {
	for _, test := range []struct {
		name         string
		age          time.Duration // of the watch
		events       []runtime.Object
		wantTooShort bool
		wantLogged   []string
	}{
		{name: "after a minute", age: time.Minute, wantLogged: []string{"log 4: Watch close"}},
		{
			name:       "at once, after an event",
			events:     []runtime.Object{configMap("a")},
			wantLogged: []string{"log 4: Watch close"},
		},
		{name: "at once, without an event", wantTooShort: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := newServer(nil)
			ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.New(logSink{log})), patience)
			defer cancel()
			sent := watch.NewFakeWithChanSize(len(test.events), false)
			for _, obj := range test.events {
				sent.Add(obj)
			}
			sent.Stop()
			w := &endedWatch{Interface: sent, giveUp: cancel}
			r := New(Options{ListerWatcher: plainListWatch(emptyList, refuseWatch(errRefused)), Store: newStore()})
			err := r.handleWatch(ctx, time.Now().Add(-test.age), w, true)
			if w.reads >= tooManyReads {
				t.Fatalf("%s: the channel of the watch is closed, and is read on and on, %d times", test.name, w.reads)
			}
			if err == context.DeadlineExceeded {
				t.Fatalf("%s: the channel of the watch is closed, and the reflector still waits after %v",
					test.name, patience)
			}
			_, tooShort := errors.AsType[*cache.VeryShortWatchError](err)
			if tooShort != test.wantTooShort || err != nil && !tooShort {
				t.Errorf("%s: the error of the watch is %v, want a VeryShortWatchError: %t",
					test.name, err, test.wantTooShort)
			}
			if !slices.Equal(log.lines, test.wantLogged) {
				t.Errorf("%s: logged %q, want %q", test.name, log.lines, test.wantLogged)
			}
		})
	}
}

// If the watch of a streamed list ends before the list does, a pause and another stream follow. Any
// other error would lead to a LIST, which the stream is to spare the server.
func TestAStreamedListThatBreaksOffIsIncomplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		sent := watch.NewFakeWithChanSize(1, false)
		sent.Add(configMap("a"))
		sent.Stop()
		w := &endedWatch{Interface: sent, giveUp: cancel}
		r := New(Options{ListerWatcher: streamingListWatch(func() watch.Interface { return w }), Store: newStore()})
		_, err := r.tryWatchList(ctx, "")
		if w.reads >= tooManyReads {
			t.Fatalf("the channel of the watch is closed, and is read on and on, %d times", w.reads)
		}
		if err != errIncompleteList {
			t.Errorf("the error of a streamed list that breaks off is %q, want %q: after it comes another stream",
				err, errIncompleteList)
		}
	})
}
