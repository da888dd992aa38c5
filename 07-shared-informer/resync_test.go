package main

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// A server is an API server with one ConfigMap, and the requests that it has received.
type server struct {
	fault.Requests
	fakeapi.HTTP
}

func newServer() *server {
	return &server{HTTP: fakeapi.HTTP{
		Objects: map[string]iter.Seq[any]{
			"/api/v1/namespaces/ns/configmaps": slices.Values([]any{weather()}),
		},
		Kinds:  map[string]metav1.TypeMeta{"configmaps": weather().TypeMeta},
		Events: make(chan fakeapi.Event),
	}}
}

func weather() *corev1.ConfigMap {
	made := fakeapi.ConfigMap("weather", "1")
	made.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	made.Data = map[string]string{"sky": "blue"}
	return made
}

// slowLines is the output of a step. To write the second line takes a while.
type slowLines struct {
	lines []string
	pause func()
}

func (s *slowLines) Write(line []byte) (int, error) {
	s.lines = append(s.lines, strings.TrimSpace(string(line)))
	if len(s.lines) == 2 {
		s.pause()
	}
	return len(line), nil
}

// When each handler has its add, the step takes no further call for a day. Meanwhile the next calls
// of both handlers wait. A resync of the calm handler would be one of the next two calls, even if it
// came only once a day.
func TestResyncIsForTheEagerHandlerOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(*server) {
			time.Sleep(25 * time.Hour)
			wantCallsOfInformer(t)
		}
		wantResyncStep(t, "a day later", pause, "eager : OnUpdate : blue", "eager : OnUpdate : blue")
	})
}

// An object that has changed is not a resync, even if its data are the same: both handlers get it.
func TestAChangeIsForBothHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(server *server) {
			labelled := weather()
			labelled.ResourceVersion = "1000001"
			labelled.Labels = map[string]string{"season": "summer"}
			server.Events <- fakeapi.Event{Type: "MODIFIED", Object: labelled}
			synctest.Wait() // until a call of each handler runs
		}
		wantResyncStep(t, "when a label was added", pause, "calm : OnUpdate : blue", "eager : OnUpdate : blue")
	})
}

// wantResyncStep runs the step resync, with a pause after the adds. After the pause it wants these
// calls. when says what happens in the pause.
func wantResyncStep(t *testing.T, when string, pause func(*server), calls ...string) {
	t.Helper()
	server := newServer()
	config := &rest.Config{Host: "http://server", Transport: &server.HTTP}
	config.Wrap(server.Wrap)
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	out := &slowLines{pause: func() { pause(server) }}
	env := &step.Env{
		Env: &play.Env{Out: out}, Client: client, Namespace: "ns", Requests: &fault.Requests{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Hour) // ends a step that waits for a call in vain
	defer cancel()
	if err := stepResync(ctx, env); err != nil {
		t.Errorf("the step returned the error %v, want none", err)
	}
	want := slices.Concat([]string{"calm : OnAdd : blue", "eager : OnAdd : blue"}, calls,
		[]string{"requests : none since the first list"})
	slices.Sort(out.lines[:min(2, len(out.lines))])                       // the adds have no order,
	slices.Sort(out.lines[min(2, len(out.lines)):min(4, len(out.lines))]) // nor have the updates
	if !slices.Equal(out.lines, want) {
		t.Errorf("the last updates came %s; the step printed\n%s\nwant\n%s", when,
			strings.Join(out.lines, "\n"), strings.Join(want, "\n"))
	}
	if got, want := server.String(), "WATCH with the initial list 1"; got != want {
		t.Errorf("the step has sent the requests %s, want %s: both handlers share one informer", got, want)
	}
}

// wantCallsOfInformer checks that all running calls of handlers come from the goroutine
// of a registration, which makes one call after the other.
func wantCallsOfInformer(t *testing.T) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for goroutine := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(goroutine, "ResourceEventHandlerFuncs.On") &&
			!strings.Contains(goroutine, "processor.(*Registration).run") {
			t.Errorf("a handler is called by a goroutine that is not the informer's:\n%s", goroutine)
		}
	}
}
