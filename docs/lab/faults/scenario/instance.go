// An instance: two informers of one implementation, one of ConfigMaps and one of
// pods, behind a proxy of their own.

package scenario

import (
	"context"
	"net/http"
	"os"
	"runtime/pprof"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/docs/lab/faults/testenv"
	"example.com/informer/scripts/harness/netfault"
)

// An Implementation is client-go's informer, or ours.
type Implementation struct {
	Name string
	New  NewInformer

	// InFlight is how many calls may still come after a handler was removed.
	InFlight int
}

// An Instance is an implementation at work.
type Instance struct {
	Name string
	TCP  *netfault.Proxy
	HTTP *httpfault.Transport

	result     Result
	goroutines int // before the fault
	informers  []*informer
	cancel     context.CancelFunc
	running    sync.WaitGroup
	disconnect func()
}

// label is the pprof label with the instance that started a goroutine.
const label = "instance"

// startInstance starts the informers. Their goroutines get the instance's label, to
// be counted.
func startInstance(ctx context.Context, env *testenv.Environment, impl Implementation,
	shortTimeouts bool) (*Instance, error) {
	config := env.Config()
	proxy, err := netfault.For(config)
	if err != nil {
		return nil, err
	}
	config.Dial = proxy.Dial
	in := &Instance{Name: impl.Name, TCP: proxy}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		in.HTTP = httpfault.New(next)
		return in.HTTP
	})
	client, disconnect, err := connect(config, shortTimeouts)
	if err != nil {
		proxy.Close()
		return nil, err
	}
	in.disconnect = disconnect
	ctx, in.cancel = context.WithCancel(ctx)
	pprof.Do(ctx, pprof.Labels(label, in.Name), func(ctx context.Context) {
		err = in.run(ctx, impl, client.CoreV1().RESTClient())
	})
	if err != nil {
		in.stop()
		return nil, err
	}
	return in, nil
}

// connect makes a client. By default the client probes a silent connection after
// 30 s and gives it up 15 s later, and it reads a token from its file again after
// 50 s, refused or not. With short timeouts it gives up a silent connection after
// two seconds, and reads a refused token again at once.
func connect(config *rest.Config, shortTimeouts bool) (*kubernetes.Clientset, func(), error) {
	if shortTimeouts {
		for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
			if err := os.Setenv(name, "1"); err != nil {
				return nil, nil, err
			}
			defer os.Unsetenv(name)
		}
		config.Wrap(transport.ResettableTokenSourceWrapTransport(
			transport.NewCachedFileTokenSource(config.BearerTokenFile)))
		config.BearerTokenFile = ""
	}
	return testenv.Connect(config)
}

func (in *Instance) run(ctx context.Context, impl Implementation, client rest.Interface) error {
	for resource, example := range map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "pods": &corev1.Pod{}} {
		i, err := newInformer(impl, client, resource, example)
		if err != nil {
			return err
		}
		in.informers = append(in.informers, i)
		in.running.Go(func() { i.RunWithContext(ctx) })
	}
	return nil
}

// all tells whether a condition is true of both informers.
func (in *Instance) all(condition func(*informer) bool) bool {
	return !in.some(func(i *informer) bool { return !condition(i) })
}

// some tells whether a condition is true of one of them.
func (in *Instance) some(condition func(*informer) bool) bool {
	return slices.ContainsFunc(in.informers, condition)
}

// stop stops the informers, and returns when they have stopped.
func (in *Instance) stop() {
	for _, i := range in.informers {
		for _, h := range i.handlers {
			h.gate.open()
		}
	}
	in.cancel()
	in.running.Wait()
	in.disconnect()
	in.TCP.Close()
}
