package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
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
// initial list, and then with no event.
type oneConfigMap struct{}

// RoundTrip implements http.RoundTripper.
func (oneConfigMap) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		return nil, fmt.Errorf("%s: want only a watch with the initial list", r.URL)
	}
	const object = `{"type":%q,"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{%s},"data":{"sky":"blue"}}}`
	body, server := io.Pipe()
	go func() {
		fmt.Fprintf(server, object, "ADDED", `"namespace":"ns","name":"weather","resourceVersion":"1"`)
		fmt.Fprintf(server, object, "BOOKMARK",
			`"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}`)
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
		client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: oneConfigMap{}})
		must.NoError(t, err)
		out := &slowLines{pause: func() {
			time.Sleep(25 * time.Hour)
			wantCallsOfInformer(t)
		}}
		l := &step.Lesson{
			Lesson: &play.Lesson{Out: out}, Client: client, Namespace: "ns", Requests: &requests.Counter{},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Hour) // ends a step that waits for a resync in vain
		defer cancel()
		if err := stepResync(ctx, l); err != nil {
			t.Errorf("the step returned the error %v, want none", err)
		}
		want := []string{
			"calm : OnAdd : blue",
			"eager : OnAdd : blue",
			"eager : OnUpdate : blue",
			"eager : OnUpdate : blue",
			"requests : none since the first list",
		}
		slices.Sort(out.lines[:min(2, len(out.lines))]) // the adds have no order
		if !slices.Equal(out.lines, want) {
			t.Errorf("the step printed\n%s\nwant\n%s", strings.Join(out.lines, "\n"), strings.Join(want, "\n"))
		}
	})
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
