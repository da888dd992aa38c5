package survival

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/requests"
)

// A wire lies between the controller and the API server. It records the requests of the controller.
// Its rules let some of them fail, or hold them up.
type wire struct {
	mu       sync.Mutex
	requests []*request
	rules    []*rule
}

// A request is a request of the controller. The wire's mu guards the fields that are not fixed.
type request struct {
	verb        string // create, update, patch, delete, list or watch
	target             // what it reads or writes
	subresource string
	resumes     bool      // a watch from a version, without the list
	about       types.UID // if it writes an Event, the object of the Event
	run         int       // the start of the controller that it belongs to
	began       time.Time
	held        *hold // what holds it up, or nil

	ended  time.Time // zero: not yet; not fixed
	status int       // of the response; not fixed
}

// A target is an object, or all objects of a resource.
type target struct {
	resource string // such as configmaps
	name     string // empty for a list
}

func (t target) String() string { return t.resource + " " + t.name }

// writes reports whether the request changes an object that is not an Event.
func (r *request) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, r.verb) && r.resource != "events"
}

// creates reports whether the request creates an object.
func (r *request) creates(object target) bool { return r.target == object && r.verb == "create" }

// deletes reports whether the request deletes an object.
func (r *request) deletes(object target) bool { return r.target == object && r.verb == "delete" }

// changes reports whether the request changes or deletes an object. A write of its status does not
// count.
func (r *request) changes(object target) bool {
	return r.target == object && r.writes() && r.verb != "create" && r.subresource != "status"
}

// isAnswered reports whether the request has ended.
func (r *request) isAnswered() bool { return !r.ended.IsZero() }

func (r *request) String() string {
	return strings.TrimSpace(r.verb + " " + r.target.String() + " " + r.subresource)
}

// connect changes the configuration of a start of the controller, so that its requests go through
// the wire. What the controller still sends after it has returned gets lost: in practice, its
// process has ended.
func (w *wire) connect(config *rest.Config, run int, returned <-chan struct{}) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(httpRequest *http.Request) (*http.Response, error) {
			if err := httpRequest.Context().Err(); err != nil {
				return nil, err // it is not sent
			}
			httpRequest, sent, err := parse(httpRequest, run)
			if err != nil {
				return nil, err
			}
			hit := w.begin(sent)
			response, err := answer(next, httpRequest, hit, returned)
			w.end(sent, response)
			return response, err
		})
	})
}

// A roundTripper is an http.RoundTripper that is one function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer answers a request as the rule says that it has hit, or lets the API server answer.
func answer(
	next http.RoundTripper, httpRequest *http.Request, hit *rule, returned <-chan struct{},
) (*http.Response, error) {
	switch {
	case hit == nil:
	case hit.hold == nil:
		return refusal(httpRequest, hit.status)
	default:
		if err := hit.hold.wait(httpRequest.Context()); err != nil {
			return nil, err
		}
	}
	select {
	case <-returned:
		return nil, errors.New("the controller has returned")
	default:
		return next.RoundTrip(httpRequest)
	}
}

// begin records a request, and returns the first rule that it hits, or nil.
func (w *wire) begin(sent *request) *rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, sent)
	for _, rule := range w.rules {
		if rule.left != 0 && rule.matches(sent) {
			rule.left--
			sent.held = rule.hold
			return rule
		}
	}
	return nil
}

func (w *wire) end(sent *request, response *http.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent.ended = time.Now()
	if response != nil {
		sent.status = response.StatusCode
	}
}

// mark returns the number of requests until now: find looks at those after it.
func (w *wire) mark() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests)
}

// find returns copies of the requests after a mark that match.
func (w *wire) find(mark int, matches func(*request) bool) (found []request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, sent := range w.requests[mark:] {
		if matches(sent) {
			found = append(found, *sent)
		}
	}
	return found
}

// parse reads what a request is about. It returns a request with the same body.
func parse(httpRequest *http.Request, run int) (*http.Request, *request, error) {
	sent := &request{verb: verbOf(httpRequest), run: run, began: time.Now()}
	sent.resumes = requests.VerbOf(httpRequest) == requests.Watch
	sent.resource, sent.name, sent.subresource = splitPath(httpRequest.URL.Path)
	if httpRequest.Body == nil {
		return httpRequest, sent, nil
	}
	body, err := io.ReadAll(httpRequest.Body)
	httpRequest.Body.Close()
	if err != nil {
		return nil, nil, err
	}
	var object struct {
		Metadata       struct{ Name string }
		Regarding      struct{ UID types.UID }
		InvolvedObject struct{ UID types.UID }
	}
	if json.Unmarshal(body, &object) == nil && sent.verb == "create" {
		sent.name = object.Metadata.Name
		sent.about = object.Regarding.UID + object.InvolvedObject.UID // one of them is empty
	}
	clone := httpRequest.Clone(httpRequest.Context())
	clone.Body = io.NopCloser(bytes.NewReader(body))
	return clone, sent, nil
}

func verbOf(httpRequest *http.Request) string {
	switch httpRequest.Method {
	case http.MethodPost:
		return "create"
	case http.MethodGet:
		if requests.VerbOf(httpRequest).Watches() {
			return "watch"
		}
		return "list"
	case http.MethodPut:
		return "update"
	default:
		return strings.ToLower(httpRequest.Method)
	}
}

// splitPath splits a path such as /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE.
func splitPath(path string) (resource, name, subresource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	parts = append(parts, "", "", "")
	return parts[0], parts[1], parts[2]
}
