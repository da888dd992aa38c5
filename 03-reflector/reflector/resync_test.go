// When a reflector resyncs its store.

package reflector

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A slowStore notes the calls of Replace and of Resync. A Resync takes half a minute.
type slowStore struct {
	cache.Store
	mu    sync.Mutex // guards calls
	calls []string
}

func (s *slowStore) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *slowStore) Replace(list []any, version string) error {
	s.note("Replace")
	return s.Store.Replace(list, version)
}

func (s *slowStore) Resync() error {
	s.note("Resync begins")
	time.Sleep(30 * time.Second)
	s.note("Resync ends")
	return nil
}

// A resync begins beside a watch. If it takes longer than the watch, the reflector waits for it
// before it lists again, and before it returns.
func TestNoResyncDuringAListOrAfterTheEnd(t *testing.T) {
	const period = 10 * time.Second
	expired := apierrors.NewResourceExpired("too old").Status()
	for name, run := range map[string]runFunc{
		clientGo: func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			cache.NewReflectorWithOptions(lw, &corev1.ConfigMap{}, store,
				cache.ReflectorOptions{ResyncPeriod: period}).RunWithContext(ctx)
		},
		ours: func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			New(Options{ListerWatcher: lw, Store: store, ResyncPeriod: period}).Run(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, watches := &slowStore{Store: newStore()}, 0
				list := func(o metav1.ListOptions) (runtime.Object, error) {
					store.note("LIST")
					time.Sleep(15 * time.Second)
					return emptyList(o)
				}
				lw := plainListWatch(list, func(metav1.ListOptions) (watch.Interface, error) {
					w := watch.NewFakeWithChanSize(1, false)
					if watches++; watches == 1 {
						time.AfterFunc(15*time.Second, func() { w.Error(&expired) }) // in the first resync
					}
					return w, nil
				})
				ctx, cancel := context.WithTimeout(t.Context(), 95*time.Second) // in the second one
				defer cancel()
				run(ctx, lw, store)
				store.note("the reflector ends")
				time.Sleep(time.Hour) // nothing comes any more
				store.mu.Lock()
				defer store.mu.Unlock()
				want := []string{"LIST", "Replace", "Resync begins", "Resync ends",
					"LIST", "Replace", "Resync begins", "Resync ends", "the reflector ends"}
				if diff := cmp.Diff(want, store.calls); diff != "" {
					t.Errorf("LISTs and calls of the store, in order (-want +got):\n%s", diff)
				}
			})
		})
	}
}
