// What the tests of this package share: a WatchDog on a fake server, in fake
// time.

package watchdog

import (
	"context"
	"sync"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"example.com/informer/05-watchdog/calls/callstest"
	"example.com/informer/05-watchdog/fakeserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var configMap = fakeserver.ConfigMap

// A kennel is a running WatchDog of ConfigMaps, and what it said.
type kennel struct {
	*WatchDog
	server *fakeserver.Server
	calls  callstest.Lines
	errors callstest.Lines
	stop   func() error // ends it and returns what Run returned
}

// run starts a WatchDog on the server. options may change what it is made of.
func run(t *testing.T, server *fakeserver.Server, options ...func(*kennel, *Options)) *kennel {
	t.Helper()
	k := &kennel{server: server}
	opts := Options{
		ListerWatcher: server,
		ObjectType:    &corev1.ConfigMap{},
		Handler:       callstest.Recorder(&k.calls),
		OnError:       func(err error) { k.errors.Add("%v", err) },
	}
	for _, option := range options {
		option(k, &opts)
	}
	dog, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	k.WatchDog = dog
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- dog.Run(ctx) }()
	k.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { k.stop() })
	return k
}
