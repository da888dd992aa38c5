package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Verb says what a request does. It distinguishes the kinds of lists and watches.
type Verb string

// The verbs.
const (
	Get       Verb = "GET"
	List      Verb = "LIST"
	NextPage  Verb = "LIST of a next page"
	Watch     Verb = "WATCH"
	WatchList Verb = "WATCH with the initial list"
	Create    Verb = "CREATE"
	Update    Verb = "UPDATE"
	Patch     Verb = "PATCH"
	Delete    Verb = "DELETE"
	Other     Verb = "other" // such as discovery, which is about no resource
)

// Watches reports whether the response is a stream of events.
func (v Verb) Watches() bool { return v == Watch || v == WatchList }

// Lists reports whether the response is a list, plain or as a stream, or a page of it.
func (v Verb) Lists() bool { return v == List || v == NextPage || v == WatchList }

// Writes reports whether the request changes something.
func (v Verb) Writes() bool { return v == Create || v == Update || v == Patch || v == Delete }

// A Request is a request to the API server.
type Request struct {
	Verb        Verb
	Resource    string // such as configmaps
	Name        string // empty for all objects of the resource
	Subresource string
	URL         *url.URL
	Body        []byte // what a write sends
	Began       time.Time
	Ended       time.Time // when the answer began; zero: there is none yet
	Status      int       // of the answer; zero: there is none
}

func (r Request) String() string {
	return strings.Join(strings.Fields(string(r.Verb)+" "+r.Resource+" "+r.Name+" "+r.Subresource), " ")
}

// readRequest reads what a request is about. It returns a request with the same body.
func readRequest(httpRequest *http.Request) (*http.Request, *Request, error) {
	r := &Request{URL: httpRequest.URL, Began: time.Now()}
	r.Resource, r.Name, r.Subresource = splitPath(r.URL.Path)
	r.Verb = r.verbOf(httpRequest.Method)
	if httpRequest.Body == nil {
		return httpRequest, r, nil
	}
	defer httpRequest.Body.Close()
	var err error
	if r.Body, err = io.ReadAll(httpRequest.Body); err != nil {
		return nil, nil, err
	}
	var object struct{ Metadata struct{ Name string } }
	if r.Verb == Create && r.Name == "" && json.Unmarshal(r.Body, &object) == nil {
		r.Name = object.Metadata.Name
	}
	httpRequest = httpRequest.Clone(httpRequest.Context())
	httpRequest.Body = io.NopCloser(bytes.NewReader(r.Body))
	return httpRequest, r, nil
}

func (r *Request) verbOf(method string) Verb {
	if r.Resource == "" {
		return Other
	}
	switch method {
	case http.MethodPost:
		return Create
	case http.MethodPut:
		return Update
	case http.MethodPatch:
		return Patch
	case http.MethodDelete:
		return Delete
	case http.MethodGet:
	default:
		return Other
	}
	query := r.URL.Query()
	switch {
	case query.Get("sendInitialEvents") == "true":
		return WatchList
	case query.Get("watch") != "":
		return Watch
	case r.Name != "":
		return Get
	case query.Get("continue") != "":
		return NextPage
	default:
		return List
	}
}

// splitPath splits a path such as /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE.
// The path of a request that is about no resource, such as /version, has none of these.
func splitPath(path string) (resource, name, subresource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	default:
		return "", "", ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	parts = append(parts, "", "")
	return parts[0], parts[1], parts[2]
}
