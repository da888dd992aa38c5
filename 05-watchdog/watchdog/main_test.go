// The fixture of the tests: a WatchDog on a fake server, in fake time.

package watchdog

import (
	"context"
	"sync"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var configMap = fakeapi.ConfigMap

// A rig is a WatchDog of ConfigMaps that runs on a fake server. It records the calls of the handler
// and the reported errors.
type rig struct {
	*WatchDog
	server *fakeapi.Server
	calls  record.Lines
	errors record.Lines
	stop   func() error // ends Run, and returns its error
}

// run starts a WatchDog on the server. Each of options may change its Options.
func run(t *testing.T, server *fakeapi.Server, options ...func(*rig, *Options)) *rig {
	t.Helper()
	r := &rig{server: server}
	opts := Options{
		ListerWatcher: server,
		ObjectType:    &corev1.ConfigMap{},
		Handler:       record.Handler(&r.calls),
		OnError:       func(err error) { r.errors.Add("%v", err) },
	}
	for _, option := range options {
		option(r, &opts)
	}
	dog, err := New(opts)
	must.NoError(t, err)
	r.WatchDog = dog
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- dog.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { r.stop() })
	return r
}
