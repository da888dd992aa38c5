// What the tests of this package share: a WatchDog on a fake server, in fake
// time.

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

// A rig is a WatchDog of ConfigMaps that runs on a fake server, the calls of its
// handler and the errors that it reported.
type rig struct {
	*WatchDog
	server *fakeapi.Server
	calls  record.Lines
	errors record.Lines
	stop   func() error // ends it and returns what Run returned
}

// run starts a WatchDog on the server. options may change what it is made of.
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
	must.Do(t, err)
	r.WatchDog = dog
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- dog.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { r.stop() })
	return r
}
