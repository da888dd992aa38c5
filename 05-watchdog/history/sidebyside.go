// Informers side by side on the same cluster, through thousands of changes and
// many broken connections.

package history

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/scripts/harness/netfault"
)

const (
	writers = 4
	rounds  = 9
	changes = 30 // by each writer, in each half of a round: 2,160 in all
	seed    = 20240529
)

// An Informer is one under test, with a proxy of its own to the server.
type Informer struct {
	Name      string
	Session   *kube.Session // goes through the proxy
	Recorders []*Recorder   // its handlers
	Store     interface{ List() []any }

	proxy *netfault.Proxy
	asked requests.Counter
}

// NewInformer returns one with so many handlers. The caller makes the informer
// itself, over its session, and says what its store is.
func NewInformer(t *testing.T, s *kube.Session, name string, handlers int) *Informer {
	t.Helper()
	proxy, err := netfault.For(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	in := &Informer{Name: name, proxy: proxy}
	in.Session, err = s.With(func(config *rest.Config) {
		config.Dial = proxy.Dial
		in.asked.Count(config)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Session.Cluster.Close)
	for range handlers {
		in.Recorders = append(in.Recorders, &Recorder{})
	}
	return in
}

// SideBySide lets writers change ConfigMaps and breaks connections. After each
// round, each store and each handler must know what the server has. In the end,
// the calls must fit what happened. The informers are made, and run, when there
// is something for their first list.
func SideBySide(t *testing.T, s *kube.Session, newInformers func() []*Informer) {
	t.Helper()
	t.Logf("seed %d, %d changes", seed, writers*rounds*2*changes)
	var happened notes[state]
	var all []*writer
	for i := range writers {
		all = append(all, &writer{
			name: fmt.Sprintf("w%d", i), random: rand.New(rand.NewPCG(seed, uint64(i))),
			session: s, happened: &happened, alive: map[string]*corev1.ConfigMap{},
		})
	}
	writeAll(t, all)
	informers := newInformers()
	for round := range rounds {
		disturb(t, round, all, informers)
		server := listNow(t, s)
		for _, in := range informers {
			in.wantStore(t, server)
		}
	}
	for _, in := range informers {
		in.wantLegal(t, happened.all())
	}
}

// writeAll lets all writers make their changes, at the same time.
func writeAll(t *testing.T, all []*writer) {
	t.Helper()
	var writing sync.WaitGroup
	for _, w := range all {
		writing.Go(func() {
			if err := w.write(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	writing.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// disturb breaks connections in the midst of changes. In two rounds of three
// the connections of one informer break: its watch goes on where it was. In the
// third all cables are pulled out until every watch has failed to resume: what
// happens meanwhile is seen by nobody, and lists follow.
func disturb(t *testing.T, round int, all []*writer, informers []*Informer) {
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
		if err := flow.Until(t.Context(), in.Name+" cannot resume its watch", in.proxy.Refused); err != nil {
			t.Fatal(err)
		}
		in.proxy.Restore()
	}
}

// listNow asks the server for all that there is.
func listNow(t *testing.T, s *kube.Session) map[string]string {
	t.Helper()
	list, err := s.OwnConfigMaps().ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	return versions(items)
}

// wantStore wants that what the informer holds, and what it called each handler
// with, become equal to what the server has.
func (in *Informer) wantStore(t *testing.T, server map[string]string) {
	t.Helper()
	for i, r := range in.Recorders {
		err := flow.Until(t.Context(), "the store is equal to the list", func() bool {
			return maps.Equal(versions(in.Store.List()), server) && maps.Equal(r.alive(), server)
		})
		if err != nil {
			t.Fatalf("%s: %v\nit holds %v\nhandler %d knows of %v\nthe server has %v",
				in.Name, err, versions(in.Store.List()), i, r.alive(), server)
		}
	}
}

// wantLegal wants that the calls for each object can be true, and that the
// informer went through what it should: lists, and tombstones.
func (in *Informer) wantLegal(t *testing.T, happened map[string][]state) {
	t.Helper()
	t.Logf("%s: requests: %s", in.Name, &in.asked)
	for i, r := range in.Recorders {
		total, tombstones := 0, 0
		for name, calls := range r.calls.all() {
			if err := legal(happened[name], calls); err != nil {
				t.Errorf("%s: %s: %v\nhappened: %+v\ncalls: %+v", in.Name, name, err, happened[name], calls)
			}
			for _, c := range calls {
				if total++; c.tombstone {
					tombstones++
				}
			}
		}
		t.Logf("%s, handler %d: %d calls, %d of them with tombstones", in.Name, i, total, tombstones)
		if lists := in.asked.Lists(); tombstones == 0 || lists < 1+rounds/3 {
			t.Errorf("%s: %d tombstones, %d lists: the test has not tested what it should", in.Name, tombstones, lists)
		}
	}
}
