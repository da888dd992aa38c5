// The WatchDog and client-go's informer, side by side on the same cluster,
// through thousands of changes and many broken connections.

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/03-reflector/cable"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/05-watchdog/watchdog"
)

const (
	writers = 4
	rounds  = 9
	changes = 30 // by each writer, in each half of a round: 2,160 in all
	seed    = 20240529
)

// A writer changes ConfigMaps of its own at random, and writes down what
// happened. Which changes it makes depends on the seed alone.
type writer struct {
	name     string
	random   *rand.Rand
	session  *kube.Session
	happened *histories
	alive    map[string]*corev1.ConfigMap
	made     int
}

// write makes n changes: it makes what is not there, and changes or deletes
// what is.
func (w *writer) write(ctx context.Context, n int) error {
	configMaps := w.session.Clientset.CoreV1().ConfigMaps(w.session.Namespace)
	for range n {
		name := fmt.Sprintf("%s-%d", w.name, w.random.IntN(8))
		w.made++
		next := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Data:       map[string]string{"value": fmt.Sprint(w.made)},
		}
		var err error
		switch now, isThere := w.alive[name]; {
		case !isThere:
			next, err = configMaps.Create(ctx, next, metav1.CreateOptions{})
		case w.random.IntN(5) < 2:
			err, next = configMaps.Delete(ctx, name, metav1.DeleteOptions{}), nil
			gone := stateOf(now)
			gone.version, gone.over = "", true
			w.happened.add(name, gone)
			delete(w.alive, name)
		default:
			next.ResourceVersion = now.ResourceVersion
			next, err = configMaps.Update(ctx, next, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("change %d of %s: %w", w.made, name, err)
		}
		if next != nil {
			w.alive[name] = next
			w.happened.add(name, stateOf(next))
		}
	}
	return nil
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

// A subject is an informer under test, at the end of a cable of its own.
type subject struct {
	name  string
	line  *cable.Cable
	told  *tales
	store watchdog.Reader
}

func newSubject(t *testing.T, s *kube.Session, name string) *subject {
	t.Helper()
	line, err := cable.New(s)
	must(t, err)
	t.Cleanup(line.Close)
	return &subject{name: name, line: line, told: &tales{}}
}

// inBackground runs until the test is over.
func inBackground(t *testing.T, run func(context.Context)) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

func runWatchDog(t *testing.T, s *kube.Session) *subject {
	t.Helper()
	sub := newSubject(t, s, "WatchDog")
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: sub.line.Session.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       sub.told,
		OnError:       func(err error) { t.Log(err) },
	})
	must(t, err)
	sub.store = dog.Store()
	inBackground(t, func(ctx context.Context) {
		if err := dog.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return sub
}

func runInformer(t *testing.T, s *kube.Session) *subject {
	t.Helper()
	sub := newSubject(t, s, "client-go's informer")
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: sub.line.Session.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       sub.told,
	})
	sub.store = store
	inBackground(t, controller.RunWithContext)
	return sub
}

// disturb breaks connections in the midst of changes. In two rounds of three
// the cable of one informer flickers: its watch goes on where it was. In the
// third all cables are pulled out until every watch has failed to resume: what
// happens meanwhile is seen by nobody, and lists follow.
func disturb(t *testing.T, round int, all []*writer, subjects []*subject) {
	t.Helper()
	writeAll(t, all, changes)
	if round%3 != 2 {
		subjects[round%len(subjects)].line.Flicker()
		writeAll(t, all, changes)
		return
	}
	for _, sub := range subjects {
		sub.line.Pull()
	}
	writeAll(t, all, changes)
	for _, sub := range subjects {
		must(t, flow.Until(t.Context(), sub.name+" cannot resume its watch", sub.line.Refused))
		sub.line.Plug()
	}
}

func TestSideBySide(t *testing.T) {
	s := kubetest.Open(t)
	t.Logf("seed %d, %d changes", seed, writers*rounds*2*changes)
	var happened histories
	var all []*writer
	for i := range writers {
		all = append(all, &writer{
			name: fmt.Sprintf("w%d", i), random: rand.New(rand.NewPCG(seed, uint64(i))),
			session: s, happened: &happened, alive: map[string]*corev1.ConfigMap{},
		})
	}
	writeAll(t, all, changes) // something for the first list
	subjects := []*subject{runWatchDog(t, s), runInformer(t, s)}
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

// listNow asks the server for all that there is.
func listNow(t *testing.T, s *kube.Session) map[string]string {
	t.Helper()
	obj, err := s.OwnConfigMaps().ListWithContext(t.Context(), metav1.ListOptions{})
	must(t, err)
	versions := map[string]string{}
	for _, configMap := range obj.(*corev1.ConfigMapList).Items {
		versions[configMap.Name] = configMap.ResourceVersion
	}
	return versions
}

func (s *subject) holds() map[string]string {
	versions := map[string]string{}
	for _, obj := range s.store.List() {
		versions[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap).ResourceVersion
	}
	return versions
}

// wantStore wants that what the informer holds and what it told of become
// equal to what the server has.
func (s *subject) wantStore(t *testing.T, server map[string]string) {
	t.Helper()
	err := flow.Until(t.Context(), "the store is equal to the list", func() bool {
		return maps.Equal(s.holds(), server) && maps.Equal(s.told.alive(), server)
	})
	if err != nil {
		t.Fatalf("%s: %v\nit holds %v\nit told of %v\nthe server has %v", s.name, err, s.holds(), s.told.alive(), server)
	}
}

// wantLegal wants that what was told of each object can be true, and that the
// informer went through what it should: lists, and tombstones.
func (s *subject) wantLegal(t *testing.T, happened *histories) {
	t.Helper()
	calls, tombstones := s.told.count()
	t.Logf("%s: %d calls, %d of them with tombstones; requests: %s", s.name, calls, tombstones, &s.line.Asked)
	if lists := s.line.Asked.Lists(); tombstones == 0 || lists < 1+rounds/3 {
		t.Errorf("%s: %d tombstones, %d lists: the test has not tested what it should", s.name, tombstones, lists)
	}
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	for name, calls := range s.told.byName {
		if err := legal(happened.byName[name], calls); err != nil {
			t.Errorf("%s: %s: %v\nhappened: %+v\ntold: %+v", s.name, name, err, happened.byName[name], calls)
		}
	}
}
