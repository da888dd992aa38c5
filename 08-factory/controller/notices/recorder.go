// Events: what kubectl describe shows below a notice.

package notices

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
)

// maxUnwritten is how many Events can wait. One more is lost: no work waits for an Event.
const maxUnwritten = 1000

// A recorder writes Events in the background, one after the other. Unlike client-go's own, it can
// wait until they are written, so that the Events of the last work are not lost. When shutDown has
// returned, nothing of the recorder runs.
type recorder struct {
	client    kubernetes.Interface
	unwritten chan *eventsv1.Event
	stop      context.CancelFunc
	ended     chan struct{} // closed when all Events are written or lost
}

// newRecorder returns a recorder. It does not stop with ctx, but with shutDown.
func newRecorder(ctx context.Context, client kubernetes.Interface) *recorder {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &recorder{
		client:    client,
		unwritten: make(chan *eventsv1.Event, maxUnwritten),
		stop:      stop,
		ended:     make(chan struct{}),
	}
	go r.writeAll(ctx)
	return r
}

// Eventf implements events.EventRecorder. It does not wait until the Event is written.
func (r *recorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	event, err := newEvent(regarding, related)
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("an Event is lost: %w", err))
		return
	}
	event.Type, event.Reason, event.Action, event.Note = eventType, reason, action, fmt.Sprintf(note, args...)
	select {
	case r.unwritten <- event:
	default:
		utilruntime.HandleError(fmt.Errorf("too many Events, one is lost: %s", event.Note))
	}
}

// newEvent returns an Event about an object, as client-go makes it. related may be nil.
func newEvent(regarding, related runtime.Object) (*eventsv1.Event, error) {
	about, err := reference.GetReference(scheme.Scheme, regarding)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // without a name, the first part is enough
	now := metav1.NowMicro()
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault),
			Name:      util.GenerateEventName(about.Name, now.UnixNano()),
		},
		EventTime:           now,
		ReportingController: "notices",
		ReportingInstance:   "notices-" + host,
		Regarding:           *about,
	}
	if related != nil {
		event.Related, err = reference.GetReference(scheme.Scheme, related)
	}
	return event, err
}

// writeAll writes Events until shutDown closes the channel. Events that are not written when ctx
// ends are lost. The log says how many.
func (r *recorder) writeAll(ctx context.Context) {
	defer close(r.ended)
	lost := 0
	for event := range r.unwritten {
		switch err := r.write(ctx, event); {
		case err == nil:
		case ctx.Err() != nil:
			lost++
		default: // Events are for people who look; no work depends on them
			utilruntime.HandleErrorWithContext(ctx, err, "An Event is lost", "note", event.Note)
		}
	}
	if lost > 0 {
		utilruntime.HandleErrorWithContext(ctx, ctx.Err(), "The last Events are lost, they took too long",
			"count", lost)
	}
}

func (r *recorder) write(ctx context.Context, event *eventsv1.Event) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := r.client.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	return err
}

// shutDown waits until all Events are written, for at most 5 seconds, and stops the recorder. Eventf
// must not be called any more.
func (r *recorder) shutDown() {
	defer r.stop()
	close(r.unwritten)
	select {
	case <-r.ended:
	case <-time.After(5 * time.Second):
		r.stop() // ends the request under way; the other Events are lost
		<-r.ended
	}
}
