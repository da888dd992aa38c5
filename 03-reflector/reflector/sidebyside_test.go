// Our reflector beside client-go's. With the same server, both must send the same requests, make
// the same calls of their stores, and log the same lines.

package reflector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A recordingStore notes its calls. The script decides which calls it refuses.
type recordingStore struct{ *server }

func (s recordingStore) call(name string, obj any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("%s %s", name, text(obj))
	if s.next(30) == 1 {
		return errors.New("the store does not want it")
	}
	return nil
}

func (s recordingStore) Add(obj any) error             { return s.call("Add", obj) }
func (s recordingStore) Update(obj any) error          { return s.call("Update", obj) }
func (s recordingStore) Delete(obj any) error          { return s.call("Delete", obj) }
func (s recordingStore) Bookmark(version string) error { return s.call("Bookmark", version) }

// Resync refuses the call with the number refusedResync.
func (s recordingStore) Resync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("Resync")
	s.resyncs++
	if s.resyncs == s.refusedResync {
		return errors.New("the store does not want it")
	}
	return nil
}

// shouldResync returns what the script says: sometimes false.
func (s recordingStore) shouldResync() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("resync?")
	return s.next(3) != 1
}

// A transformingStore is a recordingStore with a transform, which may be nil.
type transformingStore struct{ recordingStore }

// Transformer returns a function that sets a label. It refuses some objects.
func (s transformingStore) Transformer() cache.TransformFunc {
	if s.transform == nilTransformer {
		return nil
	}
	return func(obj any) (any, error) {
		if err := s.call("transform", obj); err != nil {
			return nil, err
		}
		transformed := obj.(*corev1.ConfigMap).DeepCopy()
		transformed.Labels = map[string]string{"transformed": "yes"}
		return transformed, nil
	}
}

// store returns a store for a reflector of this server.
func (s *server) store() cache.ReflectorStore {
	if s.transform == noTransformer {
		return recordingStore{s}
	}
	return transformingStore{recordingStore{s}}
}

func (s recordingStore) Replace(list []any, version string) error {
	var all []string
	for _, obj := range list {
		all = append(all, text(obj))
	}
	slices.Sort(all) // client-go's reflector does not keep the order of a streamed list
	return s.call("Replace "+strings.Join(all, " ")+" as of", version)
}

func (s recordingStore) UpdateResourceVersion(version string) {
	_ = s.call("UpdateResourceVersion", version)
}

// text describes an object in a line.
func text(obj any) string {
	if object, ok := obj.(metav1.Object); ok {
		return object.GetName() + "@" + object.GetResourceVersion() + object.GetLabels()["transformed"]
	}
	return fmt.Sprint(obj)
}

// A logSink notes the lines that a reflector logs, with their levels.
type logSink struct{ *server }

func (s logSink) Info(level int, message string, _ ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("log %d: %s", level, message)
	isRepeated := len(s.lines) > 0 && s.lines[len(s.lines)-1] == line // a reflector repeats some warnings
	if !isRepeated {
		s.note("%s", line)
	}
}

func (s logSink) Error(_ error, message string, _ ...any) { s.Info(0, message) }
func (s logSink) Init(logr.RuntimeInfo)                   {}
func (s logSink) Enabled(int) bool                        { return true }
func (s logSink) WithValues(...any) logr.LogSink          { return s }
func (s logSink) WithName(string) logr.LogSink            { return s }

// recordLines runs a reflector with a new server for some time. It returns the lines that the
// server has noted.
func recordLines(t *testing.T, start func() *server, duration time.Duration,
	run func(context.Context, *server)) (lines []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := start()
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.New(logSink{s})))
		done := make(chan struct{})
		go func() {
			defer close(done)
			run(ctx, s)
		}()
		time.Sleep(duration)
		cancel()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("the reflector has not ended with its context")
		}
		time.Sleep(time.Hour) // until all goroutines of client-go's reflector have ended
		s.mu.Lock()
		defer s.mu.Unlock()
		lines = s.lines
	})
	return lines
}

// equalPauses makes all pauses of a reflector with resyncs equal. With random pauses, the number of
// resyncs in a pause would be random, too.
var equalPauses = wait.Backoff{Duration: time.Second}

// runOurs runs our reflector with a server.
func runOurs(ctx context.Context, s *server) {
	options := Options{
		ListerWatcher: s,
		Store:         s.store(),
		ExpectedType:  &corev1.ConfigMap{},
		ResyncPeriod:  s.resyncPeriod,
		ShouldResync:  recordingStore{s}.shouldResync,
	}
	if s.resyncPeriod > 0 {
		options.Backoff = &equalPauses
	}
	New(options).Run(ctx)
}

func runClientGos(ctx context.Context, s *server) {
	options := cache.ReflectorOptions{ResyncPeriod: s.resyncPeriod}
	if s.resyncPeriod > 0 {
		options.Backoff = &equalPauses
	}
	r := cache.NewReflectorWithOptions(s, &corev1.ConfigMap{}, s.store(), options)
	r.ShouldResync = recordingStore{s}.shouldResync
	r.RunWithContext(ctx)
}

// compareWithClientGos runs both reflectors with the same script, and compares the lines.
func compareWithClientGos(t *testing.T, script []byte) {
	t.Helper()
	duration := 24 * time.Hour // until nothing more happens
	if newServer(script).resyncPeriod > 0 {
		duration = time.Duration(len(script)+10) * 20 * time.Second // until nothing but resyncs happens
	}
	start := func() *server { return newServer(script) }
	want := withoutRepetitions(recordLines(t, start, duration, runClientGos))
	got := withoutRepetitions(recordLines(t, start, duration, runOurs))
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("line %d differs\nclient-go:\n  %s\nours:\n  %s", i, linesAround(want, i), linesAround(got, i))
		}
	}
}

// withoutRepetitions returns the lines up to the end of the reflector, without the resyncs and the
// warnings of a late bookmark right before the end. Our reflector has fewer of these warnings,
// because it backs off before it asks again for a list that has broken off.
func withoutRepetitions(lines []string) []string {
	end := slices.Index(lines, "log 3: Stopping reflector")
	for end > 0 && isRepetition(lines[end-1]) {
		end--
	}
	return lines[:end]
}

// isRepetition reports whether a reflector repeats a line while nothing happens. There are so many lines that
// a regular expression would take a quarter of the time of the test.
func isRepetition(line string) bool {
	return strings.Contains(line, "Resync") || strings.Contains(line, "resync") ||
		strings.Contains(line, "event bookmark expired")
}

// linesAround returns line i with some lines before and after it.
func linesAround(lines []string, i int) string {
	return strings.Join(lines[max(0, i-6):min(len(lines), i+3)], "\n  ")
}

func TestBesideClientGos(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		script := make([]byte, 200)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		same := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compareWithClientGos(t, script) })
		if !same {
			return
		}
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
		s.resyncPeriod, s.refusedResync = 10*time.Second, 3
		s.script = []byte{0, 0, 0, 0, 0, 0, 0, 1} // the second call of shouldResync returns false
		return s
	}
	for name, run := range map[string]func(context.Context, *server){clientGo: runClientGos, ours: runOurs} {
		got := recordLines(t, start, 55*time.Second, run)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: lines (-want +got):\n%s", name, diff)
		}
	}
}

// While the server refuses a watch, client-go's reflector does not notice that the store has
// refused a resync. Ours lists again.
func TestAResyncThatIsRefusedDuringAnOutage(t *testing.T) {
	start := func() *server {
		s := newServer(nil)
		s.supportsStreams, s.resyncPeriod, s.refusedResync = false, 10*time.Second+7, 1
		s.script = append([]byte{0, 0}, bytes.Repeat([]byte{3}, 100)...) // a list, and then refused connections
		return s
	}
	for name, run := range map[string]func(context.Context, *server){clientGo: runClientGos, ours: runOurs} {
		lines := recordLines(t, start, 30*time.Second, run)
		after := lines[slices.Index(lines, "Resync"):]
		listed := slices.ContainsFunc(after, func(line string) bool { return strings.HasPrefix(line, "LIST") })
		if want := name == ours; listed != want {
			t.Errorf("%s: a LIST follows the refused resync: %t, want %t; all lines:\n  %s",
				name, listed, want, strings.Join(lines, "\n  "))
		}
	}
}

func FuzzBesideClientGos(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a script is a list of bytes"))
	f.Fuzz(compareWithClientGos)
}
