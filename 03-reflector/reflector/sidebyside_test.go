// Our reflector beside client-go's: the same server makes both send the same
// requests, make the same calls of their stores, and log the same.

package reflector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A store writes down its calls, and refuses some of them.
type store struct{ *server }

func (s store) call(name string, obj any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("%s %s", name, text(obj))
	if s.one(30) == 1 {
		return errors.New("the store does not want it")
	}
	return nil
}

func (s store) Add(obj any) error             { return s.call("Add", obj) }
func (s store) Update(obj any) error          { return s.call("Update", obj) }
func (s store) Delete(obj any) error          { return s.call("Delete", obj) }
func (s store) Bookmark(version string) error { return s.call("Bookmark", version) }

// Resync refuses one call.
func (s store) Resync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("Resync")
	if s.resyncs++; s.resyncs == s.refused {
		return errors.New("the store does not want it")
	}
	return nil
}

// shouldResync says no now and then.
func (s store) shouldResync() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("resync?")
	return s.one(3) != 1
}

// A slimStore has a transform.
type slimStore struct{ store }

// Transformer returns a function that marks an object, and refuses some.
func (s slimStore) Transformer() cache.TransformFunc {
	if s.slim == "nil" {
		return nil
	}
	return func(obj any) (any, error) {
		if err := s.call("transform", obj); err != nil {
			return nil, err
		}
		slim := obj.(*corev1.ConfigMap).DeepCopy()
		slim.Labels = map[string]string{"slim": "yes"}
		return slim, nil
	}
}

func (s *server) store() cache.ReflectorStore {
	if s.slim == "" {
		return store{s}
	}
	return slimStore{store{s}}
}

func (s store) Replace(list []any, version string) error {
	var all []string
	for _, obj := range list {
		all = append(all, text(obj))
	}
	slices.Sort(all) // a streamed list has no order, with client-go
	return s.call("Replace "+strings.Join(all, " ")+" as of", version)
}

func (s store) UpdateResourceVersion(version string) { _ = s.call("UpdateResourceVersion", version) }

func text(obj any) string {
	if object, ok := obj.(metav1.Object); ok {
		return object.GetName() + "@" + object.GetResourceVersion() + object.GetLabels()["slim"]
	}
	return fmt.Sprint(obj)
}

// A logSink notes what a reflector logs, and at which level.
type logSink struct{ *server }

func (s logSink) Info(level int, message string, _ ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("log %d: %s", level, message)
	if len(s.lines) == 0 || s.lines[len(s.lines)-1] != line { // a warning is repeated as long as it is true
		s.note("%s", line)
	}
}

func (s logSink) Error(_ error, message string, _ ...any) { s.Info(0, message) }
func (s logSink) Init(logr.RuntimeInfo)                   {}
func (s logSink) Enabled(int) bool                        { return true }
func (s logSink) WithValues(...any) logr.LogSink          { return s }
func (s logSink) WithName(string) logr.LogSink            { return s }

// play runs a reflector for a time, and returns what it did.
func play(t *testing.T, start func() *server, lasts time.Duration,
	run func(context.Context, *server)) (lines []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := start()
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.New(logSink{s})))
		ended := make(chan struct{})
		go func() { defer close(ended); run(ctx, s) }()
		time.Sleep(lasts)
		cancel()
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("it has not ended")
		}
		time.Sleep(time.Hour) // for client-go's
		s.mu.Lock()
		defer s.mu.Unlock()
		lines = s.lines
	})
	return lines
}

// With resyncs, all pauses are equal: they are random otherwise, and the number of
// resyncs in them, too.
var equalPauses = wait.Backoff{Duration: time.Second}

func ours(ctx context.Context, s *server) {
	options := Options{ListerWatcher: s, Store: s.store(), ExpectedType: &corev1.ConfigMap{}, ResyncPeriod: s.period,
		ShouldResync: store{s}.shouldResync}
	if s.period > 0 {
		options.Backoff = &equalPauses
	}
	New(options).Run(ctx)
}

func theirs(ctx context.Context, s *server) {
	options := cache.ReflectorOptions{ResyncPeriod: s.period}
	if s.period > 0 {
		options.Backoff = &equalPauses
	}
	r := cache.NewReflectorWithOptions(s, &corev1.ConfigMap{}, s.store(), options)
	r.ShouldResync = store{s}.shouldResync
	r.RunWithContext(ctx)
}

func compare(t *testing.T, script []byte) {
	t.Helper()
	lasts := 24 * time.Hour // until nothing more happens
	if newServer(script).period > 0 {
		lasts = time.Duration(len(script)+10) * 20 * time.Second // until nothing but resyncs happens
	}
	start := func() *server { return newServer(script) }
	a, b := untilRest(play(t, start, lasts, theirs)), untilRest(play(t, start, lasts, ours))
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("script %v: line %d differs\nclient-go:\n  %s\nours:\n  %s", script, i, around(a, i), around(b, i))
		}
	}
}

// untilRest leaves out the end: resyncs, and warnings that a list has no end. Ours has
// fewer: it makes a pause before it asks for a list again that has broken off.
func untilRest(lines []string) []string {
	end := slices.Index(lines, "log 3: Stopping reflector")
	repeated := regexp.MustCompile("[Rr]esync|event bookmark expired")
	for end > 0 && repeated.MatchString(lines[end-1]) {
		end--
	}
	return lines[:end]
}

func around(lines []string, i int) string {
	return strings.Join(lines[max(0, i-6):min(len(lines), i+3)], "\n  ")
}

func TestBesideClientGos(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		script := make([]byte, 200)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		compare(t, script)
	}
}

// A resync that the store refuses leads to a list.
func TestResyncsBesideClientGos(t *testing.T) {
	listed := []string{
		"log 4: Exiting watch because received the bookmark that marks the end of initial events stream",
		"Replace  as of 10", "log 2: Caches populated",
	}
	resynced := []string{"resync?", "log 4: Forcing resync", "Resync"}
	want := slices.Concat(
		[]string{"log 3: Starting reflector", "log 3: Listing and watching",
			`WATCH from "", list first: true, bookmarks: true`}, listed,
		resynced, []string{"resync?"}, resynced, resynced, // the third is refused
		[]string{"log 0: Warning: watch ended with error", "log 3: Listing and watching",
			`WATCH from "10", list first: true, bookmarks: true`}, listed,
		resynced, []string{"log 3: Stopping reflector"},
	)
	start := func() *server {
		s := newServer(nil)
		s.period, s.refused = 10*time.Second, 3
		s.script = []byte{0, 0, 0, 0, 0, 0, 0, 1} // the second question is answered with no
		return s
	}
	for name, run := range map[string]func(context.Context, *server){"client-go": theirs, "ours": ours} {
		if got := play(t, start, 55*time.Second, run); !slices.Equal(got, want) {
			t.Errorf("%s:\n  %s\nwant:\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// While the server refuses a watch, client-go's reflector does not notice that the
// store has refused a resync. Ours lists again.
func TestAResyncThatIsRefusedDuringAnOutage(t *testing.T) {
	start := func() *server {
		s := newServer(nil)
		s.streams, s.period, s.refused = false, 10*time.Second+7, 1
		s.script = append([]byte{0, 0}, bytes.Repeat([]byte{3}, 100)...) // a list, and then refused connections
		return s
	}
	for name, run := range map[string]func(context.Context, *server){"client-go": theirs, "ours": ours} {
		lines := play(t, start, 30*time.Second, run)
		after := lines[slices.Index(lines, "Resync"):]
		listed := slices.ContainsFunc(after, func(line string) bool { return strings.HasPrefix(line, "LIST") })
		if listed != (name == "ours") {
			t.Errorf("%s:\n  %s", name, strings.Join(lines, "\n  "))
		}
	}
}

func FuzzBesideClientGos(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a script is a list of bytes"))
	f.Fuzz(compare)
}
