// Events: what kubectl describe shows below a notice.

package notices

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
)

// maxUnwritten is the length of client-go's queue of Events. client-go drops an Event for which there
// is no room, and tells nobody: shutDown would wait for it.
const maxUnwritten = 1000

// A recorder writes Events in the background. Unlike client-go's own, it can wait until they are
// written, so that the Events of the last work are not lost.
type recorder struct {
	events.EventRecorder
	broadcaster events.EventBroadcaster
	stop        context.CancelFunc
	unwritten   atomic.Int64 // how many Events are on their way
}

// newRecorder returns a recorder that writes one Event after the other. It does not stop with ctx,
// but with shutDown.
func newRecorder(ctx context.Context, client kubernetes.Interface) (*recorder, error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	broadcaster := events.NewBroadcaster(nil) // has no sink: the function below writes the Events
	r := &recorder{
		EventRecorder: broadcaster.NewRecorder(scheme.Scheme, "notices"),
		broadcaster:   broadcaster,
		stop:          stop,
	}
	_, err := broadcaster.StartEventWatcher(func(obj runtime.Object) {
		defer r.unwritten.Add(-1)
		event := obj.(*eventsv1.Event)
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := client.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
		if err != nil { // Events are for people who look; no work depends on them
			utilruntime.HandleErrorWithContext(ctx, err, "An Event is lost", "note", event.Note)
		}
	})
	return r, err
}

// Eventf implements events.EventRecorder. It does not wait until the Event is written.
func (r *recorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	if r.unwritten.Add(1) > maxUnwritten {
		r.unwritten.Add(-1)
		utilruntime.HandleError(fmt.Errorf("too many Events, one is lost: %s", fmt.Sprintf(note, args...)))
		return
	}
	r.EventRecorder.Eventf(regarding, related, eventType, reason, action, note, args...)
}

// shutDown waits until all Events are written, for at most 5 seconds, and stops the recorder. Events
// that are not written by then are lost.
func (r *recorder) shutDown(ctx context.Context) {
	_ = wait.PollUntilContextTimeout(context.WithoutCancel(ctx), 10*time.Millisecond, 5*time.Second, true,
		func(context.Context) (bool, error) { return r.unwritten.Load() == 0, nil })
	r.stop()
	r.broadcaster.Shutdown()
}
