// Informers side by side on the same cluster, through thousands of changes and many broken
// connections.

package record

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
)

const (
	writerCount    = 4
	rounds         = 9
	changesPerHalf = 30 // by each writer, in each half of a round; more if the writer replaces objects
	seed           = 20240529
)

// An Informer is an informer under test, with its own proxy to the server.
type Informer struct {
	Name       string
	ConfigMaps *cache.ListWatch // goes through the proxy
	Recorders  []*Recorder      // its handlers
	Store      Lister

	proxy    *fault.Proxy
	requests fault.Requests
}

// NewInformer returns an Informer with this number of handlers. The caller makes the informer
// itself, with ConfigMaps and Recorders, and sets Store.
func NewInformer(t *testing.T, s *session.Session, name string, handlers int) *Informer {
	t.Helper()
	proxy, err := fault.For(s.Config)
	must.NoError(t, err)
	t.Cleanup(proxy.Close)
	in := &Informer{Name: name, proxy: proxy}
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	config.Wrap(in.requests.Wrap)
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	in.ConfigMaps = cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", s.Namespace, allButRootCA)
	for range handlers {
		in.Recorders = append(in.Recorders, NewRecorder(nil))
	}
	return in
}

// allButRootCA selects all ConfigMaps except the one that the cluster puts into each namespace.
var allButRootCA = fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")

// SideBySide compares informers while writers change ConfigMaps and connections break. After each
// round, each store and each handler must have the versions of the server. In the end, the calls
// must fit the changes. newInformers makes and runs the informers; it is called after the first
// changes, so that the first list has objects.
func SideBySide(t *testing.T, s *session.Session, newInformers func() []*Informer) {
	t.Helper()
	t.Logf("seed %d, %d changes", seed, writerCount*rounds*2*changesPerHalf)
	var mu sync.Mutex
	var confirmed []Change
	var writers []*Writer
	for i := range writerCount {
		writers = append(writers, &Writer{
			Client:     s.Client.CoreV1().RESTClient(),
			Namespace:  s.Namespace,
			Prefix:     fmt.Sprintf("w%d", i),
			ConfigMaps: 8,
			Random:     rand.New(rand.NewPCG(seed, uint64(i))),
			Clock:      time.Now,
			Confirmed: func(c Change) {
				mu.Lock()
				defer mu.Unlock()
				confirmed = append(confirmed, c)
			},
		})
	}
	writeAll(t, writers)
	informers := newInformers()
	for round := range rounds {
		disturb(t, round, writers, informers)
		server, err := List(t.Context(), s.Client.CoreV1().RESTClient(), "configmaps", s.Namespace, allButRootCA)
		must.NoError(t, err)
		for _, in := range informers {
			in.wantStore(t, Versions(server))
		}
	}
	for _, in := range informers {
		in.wantCalls(t, confirmed)
	}
}

// writeAll lets all writers make their changes at the same time.
func writeAll(t *testing.T, writers []*Writer) {
	t.Helper()
	var writing sync.WaitGroup
	for _, w := range writers {
		writing.Go(func() {
			for range changesPerHalf {
				if err := w.Change(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
}

// disturb breaks connections between two series of changes. In two of three rounds it breaks the
// connections of one informer, whose watch then resumes. In the third round it pulls out the cables
// of all informers, until every watch has failed to resume: no informer gets the events of these
// changes, and so each of them lists again.
func disturb(t *testing.T, round int, writers []*Writer, informers []*Informer) {
	t.Helper()
	writeAll(t, writers)
	if round%3 != 2 {
		proxy := informers[round%len(informers)].proxy
		proxy.Cut()
		proxy.Restore()
		writeAll(t, writers)
		return
	}
	for _, in := range informers {
		in.proxy.Pull()
	}
	writeAll(t, writers)
	for _, in := range informers {
		must.Until(t, in.Name+" fails to resume its watch", in.proxy.DialFailed)
		in.proxy.Restore()
	}
}

// wantStore waits until the store and the handlers have the versions of the server.
func (in *Informer) wantStore(t *testing.T, server map[string]string) {
	t.Helper()
	for i, r := range in.Recorders {
		description := fmt.Sprintf("%s and its handler %d have the versions of the server: %v", in.Name, i, server)
		must.Until(t, description, func() bool { return UpToDate(in.Store, server) && !r.Behind(server) })
	}
}

// wantCalls wants the calls to fit each other and the changes. It wants lists and tombstones among
// them: without these, the test has not tested what it should.
func (in *Informer) wantCalls(t *testing.T, confirmed []Change) {
	t.Helper()
	t.Logf("%s: requests: %s", in.Name, &in.requests)
	if got, want := in.requests.Lists(), 1+rounds/3; got < want {
		t.Errorf("%s sent %d requests for a list, want %d at least", in.Name, got, want)
	}
	contents := Contents{}
	for i, r := range in.Recorders {
		calls, _ := r.Calls() // check returns the errors too
		err := Summary(append(r.check(contents), CheckExplained(calls, confirmed)...))
		if err != nil {
			t.Errorf("%s, handler %d: %v", in.Name, i, err)
		}
		tombstones := 0
		for _, c := range calls {
			if c.Tombstone {
				tombstones++
			}
		}
		t.Logf("%s, handler %d: %d calls, %d of them with tombstones", in.Name, i, len(calls), tombstones)
		if tombstones == 0 {
			t.Errorf("%s, handler %d: no call with a tombstone, want one at least", in.Name, i)
		}
	}
}
