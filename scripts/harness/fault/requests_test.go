package fault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
)

// A sender sends requests to a server that has pods, and nothing else. The server answers a request
// with its body.
type sender struct {
	*testing.T
	Requests
	client *http.Client
}

func newSender(t *testing.T) *sender {
	t.Helper()
	s := &sender{T: t}
	config := &rest.Config{Transport: RoundTripper(func(request *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(request.URL.Path, "/pods") {
			return Respond(request, http.StatusNotFound, http.NoBody), nil
		}
		return Respond(request, http.StatusOK, request.Body), nil
	})}
	config.Wrap(s.Wrap)
	var err error
	s.client, err = rest.HTTPClientFor(config)
	must.NoError(t, err)
	return s
}

// try sends a request, and returns the response, with the body that has come back.
func (s *sender) try(ctx context.Context, method, path, body string) (response *http.Response, text string, err error) {
	s.Helper()
	request, err := http.NewRequestWithContext(ctx, method, "http://server"+path, strings.NewReader(body))
	must.NoError(s, err)
	if response, err = s.client.Do(request); err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	must.NoError(s, err)
	return response, string(answer), nil
}

// send sends a request, and wants this status.
func (s *sender) send(status int, method, path string) *http.Response {
	s.Helper()
	response, _, err := s.try(s.Context(), method, path, "")
	must.NoError(s, err)
	if response.StatusCode != status {
		s.Errorf("%s %s: status %d, want %d", method, path, response.StatusCode, status)
	}
	return response
}

func (s *sender) wantCounts(want string, watching bool) {
	s.Helper()
	if got := s.String(); got != want {
		s.Errorf("String() = %q, want %q", got, want)
	}
	if got := s.Watching(); got != watching {
		s.Errorf("Watching() = %t, want %t", got, watching)
	}
}

func TestCounts(t *testing.T) {
	s := newSender(t)
	s.wantCounts("none", false)
	s.send(http.StatusNotFound, http.MethodGet, "/api/v1/nothing?watch=true")
	s.wantCounts("WATCH 1", false) // the server has refused it
	s.Reset()
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods")
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods?limit=500")
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods?limit=500&continue=x")
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods?watch=true")
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods?watch=true&sendInitialEvents=true")
	s.send(http.StatusOK, http.MethodPost, "/api/v1/pods")
	s.wantCounts("WATCH with the initial list 1, LIST 3, WATCH 1, other 1", true)
	if got := s.Lists(); got != 4 {
		t.Errorf("Lists() = %d, want 4", got)
	}
	if got := s.Watches(); got != 1 {
		t.Errorf("Watches() = %d, want 1", got)
	}
	s.Reset()
	s.wantCounts("none", false)
}

func TestWhatARequestIsAbout(t *testing.T) {
	for request, want := range map[string]Request{
		"GET /version":                             {Verb: Other},
		"GET /api/v1":                              {Verb: Other},
		"GET /apis/apps/v1":                        {Verb: Other},
		"GET /api/v1/namespaces/ns":                {Verb: Get, Resource: "namespaces", Name: "ns"},
		"GET /api/v1/namespaces/ns/pods":           {Verb: List, Resource: "pods"},
		"GET /api/v1/namespaces/ns/pods/a":         {Verb: Get, Resource: "pods", Name: "a"},
		"GET /apis/apps/v1/deployments?watch=true": {Verb: Watch, Resource: "deployments"},
		"PUT /apis/a/v1/namespaces/ns/bs/c/status": {Verb: Update, Resource: "bs", Name: "c", Subresource: "status"},
		"PATCH /apis/a/v1/namespaces/ns/bs/c":      {Verb: Patch, Resource: "bs", Name: "c"},
		"DELETE /api/v1/namespaces/ns/pods/a":      {Verb: Delete, Resource: "pods", Name: "a"},
		"POST /api/v1/namespaces/ns/pods":          {Verb: Create, Resource: "pods", Name: "new"},
		"POST /api/v1/namespaces/ns/pods/old/binding": {
			Verb: Create, Resource: "pods", Name: "old", Subresource: "binding",
		},
	} {
		s := newSender(t)
		const body = `{"metadata":{"name":"new"}}`
		method, path, _ := strings.Cut(request, " ")
		response, answer, err := s.try(t.Context(), method, path, body)
		must.NoError(t, err)
		if response.StatusCode == http.StatusOK && answer != body {
			t.Errorf("%s: the server got the body %q, want %q", request, answer, body)
		}
		sent := s.Find(0, func(*Request) bool { return true })
		if diff := cmp.Diff([]Request{want}, sent, cmpopts.IgnoreFields(Request{}, "URL", "Body", "Began", "Ended",
			"Status")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", request, diff)
		}
		if string(sent[0].Body) != body || sent[0].Status != response.StatusCode || sent[0].Ended.IsZero() {
			t.Errorf("%s: recorded as %+v, want its body, and its answer %d", request, sent[0], response.StatusCode)
		}
	}
}

// A request whose context has ended is not sent.
func TestARequestThatIsNotSent(t *testing.T) {
	s := newSender(t)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := s.try(ended, http.MethodGet, "/api/v1/pods", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("the request fails with %v, want %v", err, context.Canceled)
	}
	s.wantCounts("none", false)
}

func TestRules(t *testing.T) {
	s := newSender(t)
	isWatch := func(sent *Request) bool { return sent.Verb == Watch }
	removeFirst := s.Add(Rule{Matches: isWatch, Times: 2, Answer: Refuse(apierrors.NewTooManyRequests("made up", 1))})
	removeSecond := s.Add(Rule{Answer: Refuse(apierrors.NewUnauthorized("made up"))})
	response := s.send(http.StatusTooManyRequests, http.MethodGet, "/api/v1/pods?watch=true")
	if got, want := response.Header.Get("Retry-After"), "1"; got != want {
		t.Errorf("the Retry-After of a refused request is %q, want %q", got, want)
	}
	s.send(http.StatusUnauthorized, http.MethodGet, "/api/v1/pods")
	if left := removeFirst(); left != 1 {
		t.Errorf("the first rule has %d of its two times left, want 1", left)
	}
	s.send(http.StatusUnauthorized, http.MethodGet, "/api/v1/pods?watch=true")
	removeSecond()
	mark := s.Mark()
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods?watch=true")
	if found := s.Find(mark, isWatch); len(found) != 1 || found[0].Status != http.StatusOK {
		t.Errorf("after the rules were removed: %v, want a WATCH with the status 200", found)
	}
}

func TestHold(t *testing.T) {
	s := newSender(t)
	hold := s.Hold(1, nil)
	wantHold := func(held, pending int) {
		t.Helper()
		must.Until(t, "the hold has the request", func() bool { return hold.Held() == held })
		must.Until(t, "the request is answered, or not", func() bool { return hold.Pending() == pending })
	}
	answered := make(chan error)
	go func() {
		_, _, err := s.try(t.Context(), http.MethodGet, "/api/v1/pods", "")
		answered <- err
	}()
	wantHold(1, 1)
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods") // the hold is for one request
	hold.Release()
	must.NoError(t, <-answered)
	wantHold(1, 0)
	s.send(http.StatusOK, http.MethodGet, "/api/v1/pods")

	hold = s.Hold(0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _, err := s.try(ctx, http.MethodGet, "/api/v1/pods", "")
		answered <- err
	}()
	wantHold(1, 1)
	cancel() // the client gives the request up
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("the request fails with %v, want %v", err, context.Canceled)
	}
	wantHold(1, 0)
	hold.Release()
	hold.Release() // which changes nothing
}
