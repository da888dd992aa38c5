package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// An oneConfigMap is the transport of a client. It answers each watch with one ConfigMap as the
// initial list. When change is closed, somebody adds a label to the ConfigMap.
type oneConfigMap struct {
	change  chan struct{}
	watches atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (c *oneConfigMap) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		return nil, fmt.Errorf("%s: want only a watch with the initial list", r.URL)
	}
	c.watches.Add(1)
	const object = `{"type":%q,"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{%s},"data":{"sky":"blue"}}}`
	body, server := io.Pipe()
	go func() {
		fmt.Fprintf(server, object, "ADDED", `"namespace":"ns","name":"weather","resourceVersion":"1"`)
		fmt.Fprintf(server, object, "BOOKMARK",
			`"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}`)
		select {
		case <-c.change:
			fmt.Fprintf(server, object, "MODIFIED",
				`"namespace":"ns","name":"weather","resourceVersion":"2","labels":{"season":"summer"}`)
		case <-r.Context().Done():
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: body, Request: r}, nil
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
		pause := func(*oneConfigMap) {
			time.Sleep(25 * time.Hour)
			wantCallsOfInformer(t)
		}
		wantResyncStep(t, "a day later", pause, "eager : OnUpdate : blue", "eager : OnUpdate : blue")
	})
}

// An object that has changed is no resync, even if its data are the same: both handlers get it.
func TestAChangeIsForBothHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(server *oneConfigMap) {
			close(server.change)
			synctest.Wait() // until both handlers have a call under way
		}
		wantResyncStep(t, "when a label was added", pause, "calm : OnUpdate : blue", "eager : OnUpdate : blue")
	})
}

// wantResyncStep runs the step resync, with a pause after the adds. After the pause it wants these
// calls. when says what happens in the pause.
func wantResyncStep(t *testing.T, when string, pause func(*oneConfigMap), calls ...string) {
	t.Helper()
	server := &oneConfigMap{change: make(chan struct{})}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: server})
	must.NoError(t, err)
	out := &slowLines{pause: func() { pause(server) }}
	l := &step.Lesson{
		Lesson: &play.Lesson{Out: out}, Client: client, Namespace: "ns", Requests: &requests.Counter{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Hour) // ends a step that waits for a call in vain
	defer cancel()
	if err := stepResync(ctx, l); err != nil {
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
	if n := server.watches.Load(); n != 1 {
		t.Errorf("the step has sent %d watch requests, want 1: both handlers share one informer", n)
	}
}

// wantCallsOfInformer checks that all calls of handlers that are under way come from the goroutine
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
