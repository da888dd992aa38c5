// Symptoms of too many calls of a handler.

package fieldguide

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// newConfigMaps returns client-go's informer of ConfigMaps. It does not run yet.
func newConfigMaps(source cache.ListerWatcher, resync time.Duration) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, resync, cache.Indexers{})
}

// handle adds a handler to an informer, and runs the informer until the test ends or stop is
// called.
func handle(t *testing.T, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) (stop func()) {
	t.Helper()
	_, err := informer.AddEventHandler(handler)
	must.NoError(t, err)
	return must.Run(t, informer.RunWithContext)
}

func TestAShorterResyncPeriodAfterTheStart(t *testing.T) {
	log := captureKlog(t, 0)
	synctest.Test(t, func(t *testing.T) {
		informer := newConfigMaps(fakeapi.New(fakeapi.ConfigMap("a", "1")), 10*time.Minute)
		must.Run(t, informer.RunWithContext)
		synctest.Wait()
		var calls record.Lines
		_, err := informer.AddEventHandlerWithResyncPeriod(record.Handler(&calls), time.Minute)
		must.NoError(t, err)
		log.want(t, `I… shared_informer.go:…] "Warning: resync period is smaller than resync check period and the `+
			`informer has already started. Changing it to the resync check period" …`)
		calls.Want(t, "OnAdd a 1 first")
		time.Sleep(9 * time.Minute)
		calls.Want(t)
		time.Sleep(2 * time.Minute)
		calls.Want(t, "OnUpdate a 1, was 1")
	})
}

// The handler is called without a change at a resync, and at the list after an expired watch.
func TestAllComesAgain(t *testing.T) {
	log := captureKlog(t, 4)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		var calls record.Lines
		handle(t, newConfigMaps(server, 10*time.Minute), record.Handler(&calls))
		calls.Want(t, "OnAdd a 1 first")
		log.want(t, `I… reflector.go:…] "Starting reflector" type="…" resyncPeriod="…" reflector="…"`)
		time.Sleep(10 * time.Minute)
		calls.Want(t, "OnUpdate a 1, was 1")
		log.want(t, `I… reflector.go:…] "Forcing resync" reflector="…"`)

		fakeapi.Expire(server.NextWatch())
		time.Sleep(time.Minute)
		calls.Want(t, "OnUpdate a 1, was 1")
		log.want(t, `I… reflector.go:…] "Caches populated" type="…" reflector="…"`)
	})
}
