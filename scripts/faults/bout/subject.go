// A contender behind a proxy of its own: two informers, one of ConfigMaps
// and one of pods.

package bout

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

	"example.com/informer/scripts/faults/ground"
	"example.com/informer/scripts/faults/tamper"
	"example.com/informer/scripts/harness/netfault"
)

// A Contender is a kind of informer.
type Contender struct {
	Name string
	New  New

	// OnTheirWay is how many calls may still come when a handler was removed.
	OnTheirWay int
}

// A Subject is a contender at work.
type Subject struct {
	Name string
	TCP  *netfault.Proxy
	HTTP *tamper.Transport

	result     Result
	baseline   int // of its goroutines
	informers  []*informer
	cancel     context.CancelFunc
	running    sync.WaitGroup
	disconnect func()
}

// start begins to list and watch. What the subject starts bears its name, so
// that its goroutines can be counted.
func start(ctx context.Context, g *ground.Ground, c Contender, impatient bool) (*Subject, error) {
	config := g.Config()
	proxy, err := netfault.For(config)
	if err != nil {
		return nil, err
	}
	config.Dial = proxy.Dial
	s := &Subject{Name: c.Name, TCP: proxy}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		s.HTTP = tamper.New(next)
		return s.HTTP
	})
	client, disconnect, err := connect(config, impatient)
	if err != nil {
		proxy.Close()
		return nil, err
	}
	s.disconnect = disconnect
	ctx, s.cancel = context.WithCancel(ctx)
	pprof.Do(ctx, pprof.Labels(label, s.Name), func(ctx context.Context) {
		err = s.run(ctx, c, client.CoreV1().RESTClient())
	})
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// connect makes a client. By default a connection on which nothing comes is
// probed after 30 s and given up 15 s later, and a token is read from its file
// again after 50 s, refused or not. An impatient client gives a connection two
// seconds, and reads a refused token again at once.
func connect(config *rest.Config, impatient bool) (*kubernetes.Clientset, func(), error) {
	if impatient {
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
	return ground.Connect(config)
}

func (s *Subject) run(ctx context.Context, c Contender, client rest.Interface) error {
	for resource, example := range map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "pods": &corev1.Pod{}} {
		i, err := newInformer(c, client, resource, example)
		if err != nil {
			return err
		}
		s.informers = append(s.informers, i)
		s.running.Go(func() { i.RunWithContext(ctx) })
	}
	return nil
}

// all tells whether a condition is true of both informers.
func (s *Subject) all(condition func(*informer) bool) bool {
	return !slices.ContainsFunc(s.informers, func(i *informer) bool { return !condition(i) })
}

// stop ends the subject, and returns when it has ended.
func (s *Subject) stop() {
	for _, i := range s.informers {
		for _, h := range i.handlers {
			h.gate.open()
		}
	}
	s.cancel()
	s.running.Wait()
	s.disconnect()
	s.TCP.Close()
}
