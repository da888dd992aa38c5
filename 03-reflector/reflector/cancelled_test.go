package reflector

import (
	"context"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// When the program ends, its HTTP client ends the watch with an error. That is no news: nothing is
// logged. A cancelled context cancels the contexts made from it one after the other, so the watch
// may notice the end before the reflector does. A thousand other contexts make that likely.
func TestAWatchThatEndsWithTheContextIsNotLogged(t *testing.T) {
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		var logged strings.Builder // read when the reflector has returned
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logged)))
		listed := make(chan struct{})
		r := New(Options{
			ListerWatcher: &cache.ListWatch{
				WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
					events := make(chan watch.Event, 2)
					events <- watch.Event{Type: watch.Bookmark, Object: endOfList("1")}
					running.Go(func() {
						<-ctx.Done()
						events <- watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "context canceled"}}
					})
					for range 1000 {
						_, cancel := context.WithCancel(ctx)
						t.Cleanup(cancel)
					}
					return watch.NewProxyWatcher(events), nil
				},
			},
			ExpectedType: &corev1.ConfigMap{},
			Store:        notifying{newStore(), sync.OnceFunc(func() { close(listed) })},
		})
		running.Go(func() { r.Run(klog.NewContext(ctx, logger)) })
		<-listed
		cancel()
		running.Wait()
		if logged.Len() > 0 {
			t.Fatalf("logged %q, want nothing", logged.String())
		}
	}
}

// notifying calls replaced after a list was stored.
type notifying struct {
	cache.Store
	replaced func()
}

func (n notifying) Replace(objs []any, version string) error {
	defer n.replaced()
	return n.Store.Replace(objs, version)
}
