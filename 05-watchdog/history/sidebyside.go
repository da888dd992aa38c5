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

// A Subject is an informer under test, with a proxy of its own to the server.
type Subject struct {
	Name    string
	Session *kube.Session // goes through the proxy
	Told    []*Tales      // by its handlers
	Store   interface{ List() []any }

	proxy *netfault.Proxy
	asked requests.Counter
}

// NewSubject returns one with so many handlers. The caller makes the informer,
// over the subject's session, and says what its store is.
func NewSubject(t *testing.T, s *kube.Session, name string, handlers int) *Subject {
	t.Helper()
	proxy, err := netfault.For(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	sub := &Subject{Name: name, proxy: proxy}
	sub.Session, err = s.With(func(config *rest.Config) {
		config.Dial = proxy.Dial
		sub.asked.Count(config)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Session.Cluster.Close)
	for range handlers {
		sub.Told = append(sub.Told, &Tales{})
	}
	return sub
}

// SideBySide lets writers change ConfigMaps and breaks connections. After each
// round, each store and each handler must know what the server has. In the end,
// what was told must be what happened. The subjects are made, and run, when
// there is something for their first list.
func SideBySide(t *testing.T, s *kube.Session, newSubjects func() []*Subject) {
	t.Helper()
	t.Logf("seed %d, %d changes", seed, writers*rounds*2*changes)
	var happened histories
	var all []*writer
	for i := range writers {
		all = append(all, &writer{
			name: fmt.Sprintf("w%d", i), random: rand.New(rand.NewPCG(seed, uint64(i))),
			session: s, happened: &happened, alive: map[string]*corev1.ConfigMap{},
		})
	}
	writeAll(t, all, changes)
	subjects := newSubjects()
	for round := range rounds {
		disturb(t, round, all, subjects)
		server := listNow(t, s)
		for _, sub := range subjects {
			sub.wantStore(t, server)
		}
	}
	for _, sub := range subjects {
		sub.wantLegal(t, &happened)
	}
}

// writeAll lets all writers make n changes each, at the same time.
func writeAll(t *testing.T, all []*writer, n int) {
	t.Helper()
	var writing sync.WaitGroup
	for _, w := range all {
		writing.Go(func() {
			if err := w.write(t.Context(), n); err != nil {
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
func disturb(t *testing.T, round int, all []*writer, subjects []*Subject) {
	t.Helper()
	writeAll(t, all, changes)
	if round%3 != 2 {
		proxy := subjects[round%len(subjects)].proxy
		proxy.Cut()
		proxy.Restore()
		writeAll(t, all, changes)
		return
	}
	for _, sub := range subjects {
		sub.proxy.Pull()
	}
	writeAll(t, all, changes)
	for _, sub := range subjects {
		if err := flow.Until(t.Context(), sub.Name+" cannot resume its watch", sub.proxy.Refused); err != nil {
			t.Fatal(err)
		}
		sub.proxy.Restore()
	}
}

// listNow asks the server for all that there is.
func listNow(t *testing.T, s *kube.Session) map[string]string {
	t.Helper()
	obj, err := s.OwnConfigMaps().ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, configMap := range obj.(*corev1.ConfigMapList).Items {
		versions[configMap.Name] = configMap.ResourceVersion
	}
	return versions
}

func (s *Subject) holds() map[string]string {
	versions := map[string]string{}
	for _, obj := range s.Store.List() {
		versions[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap).ResourceVersion
	}
	return versions
}

// wantStore wants that what the informer holds, and what it told each handler,
// become equal to what the server has.
func (s *Subject) wantStore(t *testing.T, server map[string]string) {
	t.Helper()
	for i, told := range s.Told {
		err := flow.Until(t.Context(), "the store is equal to the list", func() bool {
			return maps.Equal(s.holds(), server) && maps.Equal(told.alive(), server)
		})
		if err != nil {
			t.Fatalf("%s: %v\nit holds %v\nit told handler %d of %v\nthe server has %v",
				s.Name, err, s.holds(), i, told.alive(), server)
		}
	}
}

// wantLegal wants that what was told of each object can be true, and that the
// informer went through what it should: lists, and tombstones.
func (s *Subject) wantLegal(t *testing.T, happened *histories) {
	t.Helper()
	t.Logf("%s: requests: %s", s.Name, &s.asked)
	for i, tales := range s.Told {
		calls, tombstones := tales.count()
		t.Logf("%s, handler %d: %d calls, %d of them with tombstones", s.Name, i, calls, tombstones)
		if lists := s.asked.Lists(); tombstones == 0 || lists < 1+rounds/3 {
			t.Errorf("%s: %d tombstones, %d lists: the test has not tested what it should", s.Name, tombstones, lists)
		}
		tales.mu.Lock()
		for name, calls := range tales.byName {
			if err := legal(happened.byName[name], calls); err != nil {
				t.Errorf("%s: %s: %v\nhappened: %+v\ntold: %+v", s.Name, name, err, happened.byName[name], calls)
			}
		}
		tales.mu.Unlock()
	}
}
