// Informers that end while others wait for their first lists.

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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestNobodyWaitsForATypeThatIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(noPods(), Options{})
		defer f.Shutdown()
		f.ConfigMaps()
		f.Pods()
		f.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var err error
		var result cache.SyncResult
		plain := goOn(func() { err = f.WaitForCacheSync(ctx) })
		sharedInformerFactory := goOn(func() { result = f.ClientGo().WaitForCacheSyncWithContext(ctx) })
		expect.That(t, !plain.returned() && !sharedInformerFactory.returned(),
			"it has returned, and pods have not synced")
		f.Forget(Pods)
		f.Pods() // a fresh one, which they did not wait for
		f.Nodes()
		f.Start(t.Context())
		if !plain.returned() || !sharedInformerFactory.returned() {
			t.Error("it waits for a type that is forgotten")
			cancel()
		}
		<-plain
		<-sharedInformerFactory
		want := map[reflect.Type]bool{reflect.TypeFor[*corev1.ConfigMap](): true}
		expect.That(t, err == nil && result.Err == nil && maps.Equal(result.Synced, want),
			"got %v; %v, %v; want %v", err, result.Synced, result.Err, want)
	})
}

// A type that was forgotten while a handler of it was busy.
func TestNobodyWaitsForATypeThatIsBeingForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(noPods(), Options{})
		defer f.Shutdown()
		release := make(chan struct{})
		must.Do(t, f.Pods().Informer().SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {
			<-release
		}))
		f.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var err error
		waiting := goOn(func() { err = f.WaitForCacheSync(ctx) })
		synctest.Wait()
		forgotten := goOn(func() { f.Forget(Pods) })
		if !waiting.returned() || forgotten.returned() {
			t.Errorf("the wait is over: %t, the informer has ended: %t; want the first alone",
				waiting.returned(), forgotten.returned())
			cancel()
		}
		<-waiting
		expect.That(t, err == nil, "%v", err)
		close(release)
		<-forgotten
	})
}

// What has ended before its first list will have none, however long one waits.
func TestTheWaitIsOverWithTheInformers(t *testing.T) {
	tired := errors.New("no more patience")
	for _, test := range []struct {
		name string
		end  func(f *Factory, cancel context.CancelCauseFunc)
		why  error
	}{
		{"Shutdown", func(f *Factory, _ context.CancelCauseFunc) { f.Shutdown() }, errShutDown},
		{"the context of Start", func(_ *Factory, cancel context.CancelCauseFunc) { cancel(tired) }, tired},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(noPods(), Options{})
				defer f.Shutdown()
				configMaps := f.ConfigMaps().Informer()
				f.Pods()
				ctx, cancel := context.WithCancelCause(t.Context())
				f.Start(ctx)
				patience, giveUp := context.WithCancel(t.Context())
				defer giveUp()
				var err error
				waiting := goOn(func() { err = f.WaitForCacheSync(patience) })
				synctest.Wait()
				test.end(f, cancel)
				if !waiting.returned() {
					t.Error("it still waits")
					giveUp()
				}
				<-waiting
				expect.That(t, errors.Is(err, test.why) && strings.Contains(err.Error(), "the first list of pods ("),
					"got %v, want that pods have not synced: %v", err, test.why)
				again := f.WaitForCacheSync(patience)
				expect.That(t, errors.Is(again, test.why), "asked again: %v", again)
				expect.That(t, configMaps.IsStopped() && f.ConfigMaps().Informer() == configMaps,
					"what had synced runs on, or is not in its place any more")
			})
		})
	}
}
