// Informers side by side on the same cluster, through thousands of changes and
// many broken connections.

package record

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session"
)

const (
	writers = 4
	rounds  = 9
	changes = 30 // by each writer, in each half of a round: 2,160 in all, and more where it replaces an object
	seed    = 20240529
)

// An Informer is one under test, with a proxy of its own to the server.
type Informer struct {
	Name       string
	ConfigMaps *cache.ListWatch // goes through the proxy
	Recorders  []*Recorder      // its handlers
	Store      Lister

	proxy *netfault.Proxy
	asked requests.Counter
}

// NewInformer returns one with so many handlers. The caller makes the informer
// itself, with these ConfigMaps, and says what its store is.
func NewInformer(t *testing.T, s *session.Session, name string, handlers int) *Informer {
	t.Helper()
	proxy, err := netfault.For(s.Config)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	in := &Informer{Name: name, proxy: proxy}
	config := rest.CopyConfig(s.Config)
	config.Dial = proxy.Dial
	in.asked.Count(config)
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	in.ConfigMaps = cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", s.Namespace, ours)
	for range handlers {
		in.Recorders = append(in.Recorders, NewRecorder(nil))
	}
	return in
}

// ours are all ConfigMaps but the one that the cluster puts there.
var ours = fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")

// SideBySide lets writers change ConfigMaps and breaks connections. After each round, each store and
// each handler must know what the server has. In the end, the calls must fit the changes. The
// informers are made, and run, when there is something for their first list.
func SideBySide(t *testing.T, s *session.Session, newInformers func() []*Informer) {
	t.Helper()
	t.Logf("seed %d, %d changes", seed, writers*rounds*2*changes)
	var mu sync.Mutex
	var made []Change
	var all []*Writer
	for i := range writers {
		all = append(all, &Writer{
			Client: s.Client.CoreV1().RESTClient(), Namespace: s.Namespace, Prefix: fmt.Sprintf("w%d", i),
			ConfigMaps: 8, Random: rand.New(rand.NewPCG(seed, uint64(i))), Clock: time.Now,
			Confirmed: func(c Change) {
				mu.Lock()
				defer mu.Unlock()
				made = append(made, c)
			},
		})
	}
	writeAll(t, all)
	informers := newInformers()
	for round := range rounds {
		disturb(t, round, all, informers)
		server, err := List(t.Context(), s.Client.CoreV1().RESTClient(), "configmaps", s.Namespace, ours)
		must.Do(t, err)
		for _, in := range informers {
			in.wantStore(t, Versions(server))
		}
	}
	for _, in := range informers {
		in.wantCalls(t, made)
	}
}

// writeAll lets all writers make their changes, at the same time.
func writeAll(t *testing.T, all []*Writer) {
	t.Helper()
	var writing sync.WaitGroup
	for _, w := range all {
		writing.Go(func() {
			for range changes {
				err := w.Change(t.Context())
				expect.That(t, err == nil, "%v", err)
			}
		})
	}
	writing.Wait()
}

// disturb breaks connections in the midst of changes. In two rounds of three the connections of one
// informer break: its watch goes on where it was. In the third all cables are pulled out until every
// watch has failed to resume: what happens meanwhile is seen by nobody, and lists follow.
func disturb(t *testing.T, round int, all []*Writer, informers []*Informer) {
	t.Helper()
	writeAll(t, all)
	if round%3 != 2 {
		proxy := informers[round%len(informers)].proxy
		proxy.Cut()
		proxy.Restore()
		writeAll(t, all)
		return
	}
	for _, in := range informers {
		in.proxy.Pull()
	}
	writeAll(t, all)
	for _, in := range informers {
		must.Until(t, in.Name+" fails to resume its watch", in.proxy.DialFailed)
		in.proxy.Restore()
	}
}

// wantStore wants the store, and the calls of each handler, to become equal to
// what the server has.
func (in *Informer) wantStore(t *testing.T, server map[string]string) {
	t.Helper()
	for i, r := range in.Recorders {
		what := fmt.Sprintf("%s and its handler %d have what the server has: %v", in.Name, i, server)
		must.Until(t, what, func() bool { return UpToDate(in.Store, server) && !r.Behind(server) })
	}
}

// wantCalls wants the calls to fit each other and the changes, and the informer
// to have gone through what it should: lists, and tombstones.
func (in *Informer) wantCalls(t *testing.T, made []Change) {
	t.Helper()
	t.Logf("%s: requests: %s", in.Name, &in.asked)
	contents := Contents{}
	for i, r := range in.Recorders {
		calls, _ := r.Calls()
		err := Summary(append(r.check(contents), CheckExplained(calls, made)...))
		expect.That(t, err == nil, "%s, handler %d: %v", in.Name, i, err)
		others := slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return c.Tombstone })
		tombstones := len(calls) - len(others)
		t.Logf("%s, handler %d: %d calls, %d of them with tombstones", in.Name, i, len(calls), tombstones)
		if lists := in.asked.Lists(); tombstones == 0 || lists < 1+rounds/3 {
			t.Errorf("%s: %d tombstones, %d lists: the test has not tested what it should", in.Name, tombstones, lists)
		}
	}
}
