// Handlers that panic.

package fanouttest

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"example.com/informer/06-processor/processor"
)

// onPanic replaces utilruntime's PanicHandlers by one function, until the test ends.
func onPanic(t *testing.T, report func(context.Context, any)) {
	handlers := utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	utilruntime.PanicHandlers = []func(context.Context, any){report}
}

func aPanicIsReportedAndTheNextCallIsMadeASecondLater(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		var logged strings.Builder
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logged)))
		var reported []string
		onPanic(t, func(ctx context.Context, p any) {
			klog.FromContext(ctx).Info("reported")
			reported = append(reported, fmt.Sprintf("%v, from here: %t",
				p, strings.Contains(string(debug.Stack()), "fanouttest/panics.go")))
		})
		p := running(t, fanout)
		shaky, steady := newRecorder(), newRecorder()
		r := add(t, p, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { panic("oh no") },
			UpdateFunc: shaky.UpdateFunc,
		}, processor.Options{Logger: &logger})
		add(t, p, steady, processor.Options{})
		p.Distribute(Added("a", 1))
		p.Synced()
		p.Distribute(Updated("a", 1, 2))
		steady.want(t, "add a 1", "update a 1 to 2")
		wantSynced(t, "after a call that panicked", true, r)
		if want := []string{"oh no, from here: true"}; !slices.Equal(reported, want) {
			t.Errorf("the PanicHandler got %q, want %q", reported, want)
		}
		if got, want := logged.String(), `object="a"`; !strings.Contains(got, want) {
			t.Errorf("the handler's logger has %q, want a line with %q", got, want)
		}
		time.Sleep(pauseAfterPanic - time.Nanosecond)
		shaky.want(t)
		time.Sleep(time.Nanosecond)
		shaky.want(t, "update a 1 to 2")
	})
}

func thePauseAfterAPanicEndsWithTheRegistration(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		onPanic(t, func(context.Context, any) {})
		p := running(t, fanout)
		r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("oh no") }}, processor.Options{})
		p.Distribute(Added("a", 1))
		p.Distribute(Added("b", 2))
		synctest.Wait()
		start := time.Now()
		p.Remove(r)
		<-r.ShutdownChan()
		if took := time.Since(start); took != 0 {
			t.Errorf("the handler ended %v after its removal, want 0", took)
		}
	})
}
