package fakeapi

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/fault"
)

// An HTTP is an API server in memory, for tests with a real client: it is the Transport of a
// rest.Config. It streams a list over a watch if a client asks for that, as a real server does. It
// speaks JSON only.
type HTTP struct {
	Objects map[string]iter.Seq[any]   // the list at each path; other paths are not found
	Kinds   map[string]metav1.TypeMeta // the type of each resource, such as configmaps
	Events  chan Event                 // each event is sent to one of the open watches
}

// An Event is an event of a watch.
type Event struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// RoundTrip implements http.RoundTripper.
func (s *HTTP) RoundTrip(r *http.Request) (*http.Response, error) {
	objects, ok := s.Objects[r.URL.Path]
	if !ok {
		return fault.Respond(r, http.StatusNotFound, http.NoBody), nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	body, out := io.Pipe()
	go func() {
		defer func() { out.CloseWithError(ctx.Err()) }() // without an error, as the end of the body
		if query := r.URL.Query(); query.Get("watch") == "" {
			s.list(out, r, objects)
		} else {
			s.watch(ctx, out, r, objects)
		}
	}()
	return fault.Respond(r, http.StatusOK, response{body, cancel}), nil
}

// A response is the body of a response. Its watch ends when the client closes it.
type response struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (r response) Close() error {
	r.cancel()
	return r.PipeReader.Close()
}

// listVersion is the version of all lists.
const listVersion = "1000000"

func (s *HTTP) list(out io.Writer, r *http.Request, objects iter.Seq[any]) {
	kind := s.Kinds[path.Base(r.URL.Path)]
	kind.Kind += "List"
	list := struct {
		metav1.TypeMeta
		Metadata metav1.ListMeta `json:"metadata"`
		Items    []any           `json:"items"`
	}{TypeMeta: kind, Metadata: metav1.ListMeta{ResourceVersion: listVersion}}
	for object := range objects {
		list.Items = append(list.Items, object)
	}
	_ = json.NewEncoder(out).Encode(list) // an error says that the client reads no further
}

// watch writes the list, if the client wants it, and then events, until ctx ends.
func (s *HTTP) watch(ctx context.Context, out io.Writer, r *http.Request, objects iter.Seq[any]) {
	send := json.NewEncoder(out)
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for object := range objects {
			if send.Encode(Event{Type: "ADDED", Object: object}) != nil {
				return // the client reads no further
			}
		}
		end := metav1.PartialObjectMetadata{TypeMeta: s.Kinds[path.Base(r.URL.Path)]}
		end.ResourceVersion = listVersion
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		_ = send.Encode(Event{Type: "BOOKMARK", Object: end})
	}
	for {
		select {
		case event := <-s.Events:
			_ = send.Encode(event)
		case <-ctx.Done():
			return
		}
	}
}
