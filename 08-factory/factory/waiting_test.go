// Informers that end while WaitForCacheSync waits for their first lists.

package factory

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

func TestNobodyWaitsForATypeThatIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(newClientWithoutPods(), Options{})
		defer f.Shutdown()
		f.ConfigMaps()
		f.Pods()
		f.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var err error
		var result cache.SyncResult
		waits := map[string]call{
			"WaitForCacheSync": startCall(func() { err = f.WaitForCacheSync(ctx) }),
			"WaitForCacheSyncWithContext": startCall(func() {
				result = f.ClientGo().WaitForCacheSyncWithContext(ctx)
			}),
		}
		for name, wait := range waits {
			if wait.returned() {
				t.Errorf("%s has returned before pods have synced", name)
			}
		}
		f.Forget(Pods)
		f.Pods() // a new informer: the calls above do not wait for it
		f.Nodes()
		f.Start(t.Context())
		for name, wait := range waits {
			if !wait.returned() {
				t.Errorf("%s waits for a type that was forgotten", name)
				cancel()
			}
			<-wait
		}
		if err != nil {
			t.Errorf("WaitForCacheSync() = %v, want nil", err)
		}
		if result.Err != nil {
			t.Errorf("WaitForCacheSyncWithContext: Err = %v, want nil", result.Err)
		}
		want := map[reflect.Type]bool{reflect.TypeFor[*corev1.ConfigMap](): true}
		if !maps.Equal(result.Synced, want) {
			t.Errorf("WaitForCacheSyncWithContext: Synced = %v, want %v", result.Synced, want)
		}
	})
}

// Forget still waits for a watch error handler. WaitForCacheSync does not.
func TestNobodyWaitsForATypeThatIsBeingForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(newClientWithoutPods(), Options{})
		defer f.Shutdown()
		release := make(chan struct{})
		waitForRelease := func(context.Context, *cache.Reflector, error) { <-release }
		must.NoError(t, f.Pods().Informer().SetWatchErrorHandlerWithContext(waitForRelease))
		f.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var err error
		waiting := startCall(func() { err = f.WaitForCacheSync(ctx) })
		synctest.Wait()
		forgotten := startCall(func() { f.Forget(Pods) })
		if forgotten.returned() {
			t.Error("Forget has returned while the watch error handler was blocked")
		}
		if !waiting.returned() {
			t.Error("WaitForCacheSync waits for a type that is being forgotten")
			cancel()
		}
		<-waiting
		if err != nil {
			t.Errorf("WaitForCacheSync() = %v, want nil", err)
		}
		close(release)
		<-forgotten
	})
}

// An informer that has ended before its first list will never sync. WaitForCacheSync returns an
// error.
func TestTheWaitIsOverWithTheInformers(t *testing.T) {
	cause := errors.New("no more patience")
	for _, test := range []struct {
		name string
		end  func(f *Factory, cancel context.CancelCauseFunc)
		want error
	}{
		{
			name: "Shutdown",
			end:  func(f *Factory, _ context.CancelCauseFunc) { f.Shutdown() },
			want: errShutDown,
		},
		{
			name: "the context of Start",
			end:  func(_ *Factory, cancel context.CancelCauseFunc) { cancel(cause) },
			want: cause,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(newClientWithoutPods(), Options{})
				defer f.Shutdown()
				configMaps := f.ConfigMaps().Informer()
				f.Pods()
				ctx, cancel := context.WithCancelCause(t.Context())
				f.Start(ctx)
				patience, giveUp := context.WithCancel(t.Context())
				defer giveUp()
				var err error
				waiting := startCall(func() { err = f.WaitForCacheSync(patience) })
				synctest.Wait()
				test.end(f, cancel)
				if !waiting.returned() {
					t.Error("WaitForCacheSync waits for an informer that has ended")
					giveUp()
				}
				<-waiting
				if !errors.Is(err, test.want) {
					t.Errorf("WaitForCacheSync() = %v, which does not wrap %v", err, test.want)
				}
				if text := "the first list of pods ("; err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("WaitForCacheSync() = %v, want an error with %q", err, text)
				}
				if err := f.WaitForCacheSync(patience); !errors.Is(err, test.want) {
					t.Errorf("the second WaitForCacheSync() = %v, which does not wrap %v", err, test.want)
				}
				if !configMaps.IsStopped() {
					t.Error("the informer of ConfigMaps, which had synced, has not stopped")
				}
				if f.ConfigMaps().Informer() != configMaps {
					t.Error("ConfigMaps() returns a new informer, want the one that has stopped")
				}
			})
		})
	}
}
