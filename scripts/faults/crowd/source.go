// Where answers come from, and how each source is asked: the pages of chapter
// 07, those of chapter 08, and the API server.

package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A kind of read.
type kind int

const (
	one      kind = iota // one object, by its name
	labelled             // the objects with a label
	keys                 // the same, but only what they are called
	whole                // all objects

	every // kind of the above
)

// title is what a kind is called in the table.
var title = map[kind]string{one: "one object", labelled: "a list by label", keys: "names by label", whole: "the whole list", every: "all of these"}

// kinds in the order of the table.
var kinds = []kind{one, keys, labelled, whole}

// A read is one question.
type read struct {
	kind      kind
	name, app string // of an object, for one; a label, for labelled and keys
}

// A source is asked by many clients.
type source struct {
	dialect
	name, url string
	namespace string
	objects   []*history                // in that namespace, by name
	pages     func([]corev1.Pod) []page // what is to be read where these pods are there; nil for the API server
	tls       *tls.Config               // nil where there is none
	token     string
}

// connection is for one client. All sources speak the same HTTP, and none has
// to compress its answers.
func (s *source) connection() *http.Transport {
	return &http.Transport{TLSClientConfig: s.tls.Clone(), MaxConnsPerHost: 1, DisableCompression: true}
}

// A dialect is how a source is spoken to.
type dialect interface {
	// mix says how often of twenty each kind is asked for.
	mix() map[kind]int
	path(read) string
	// understand reads an answer with status 200.
	understand(read, []byte) ([]sight, error)
	// missing wants an answer with status 404 to be about the object.
	missing(read, []byte) error
}

// sightsOf wants pods to be those that were asked for.
func sightsOf(namespace string, r read, pods []pod) ([]sight, error) {
	sights := make([]sight, len(pods))
	for i, p := range pods {
		s, err := p.sight()
		switch {
		case err != nil:
			return nil, err
		case p.Metadata.Namespace != namespace:
			return nil, fmt.Errorf("%s is of namespace %s", s.name, p.Metadata.Namespace)
		case r.kind == one && s.name != r.name:
			return nil, fmt.Errorf("it is %s", s.name)
		case r.kind == labelled && s.app != r.app:
			return nil, fmt.Errorf("%s has the label %s", s.name, s.app)
		}
		sights[i] = s
	}
	return sights, nil
}

// chapter07 has no page for one object, but one for names; and its lists have
// the phase and no more.
type chapter07 struct{ namespace string }

func (chapter07) mix() map[kind]int { return map[kind]int{keys: 14, labelled: 5, whole: 1} }

func (chapter07) path(r read) string {
	switch r.kind {
	case keys:
		return "/indexes/app/" + r.app
	case labelled:
		return "/pods?app=" + r.app
	}
	return "/pods"
}

func (c chapter07) understand(r read, body []byte) (sights []sight, err error) {
	if r.kind == keys {
		var names []string
		err = json.Unmarshal(body, &names)
		for _, name := range names {
			short, ok := strings.CutPrefix(name, c.namespace+"/")
			if !ok {
				return nil, fmt.Errorf("%s is of another namespace", name)
			}
			sights = append(sights, sight{name: short, app: r.app})
		}
		return sights, err
	}
	var pods []struct{ Namespace, Name, Phase string }
	err = json.Unmarshal(body, &pods)
	for _, p := range pods {
		if p.Namespace != c.namespace {
			return nil, fmt.Errorf("%s is of namespace %s", p.Name, p.Namespace)
		}
		sights = append(sights, sight{name: p.Name, phase: p.Phase, app: r.app})
	}
	return sights, err
}

func (chapter07) missing(read, []byte) error {
	return errors.New("nothing that is asked for here can be missing")
}

// chapter08 has whole objects, without their managed fields.
type chapter08 struct{ namespace string }

func (chapter08) mix() map[kind]int { return map[kind]int{one: 14, labelled: 5, whole: 1} }

func (c chapter08) path(r read) string {
	switch r.kind {
	case one:
		return "/pods/" + c.namespace + "/" + r.name
	case labelled:
		return "/pods?label=app%3D" + r.app
	}
	return "/pods"
}

func (c chapter08) understand(r read, body []byte) ([]sight, error) {
	pods := make([]pod, 1)
	into := any(&pods)
	if r.kind == one {
		into = &pods[0]
	}
	if err := json.Unmarshal(body, into); err != nil {
		return nil, err
	}
	return sightsOf(c.namespace, r, pods)
}

func (c chapter08) missing(r read, body []byte) error {
	want := fmt.Sprintf(`{"error":"there is no \"%s/%s\" in pods"}`, c.namespace, r.name)
	if string(body) != want {
		return fmt.Errorf("got %s, want %s", body, want)
	}
	return nil
}

// apiServer has whole objects. Asked for any version, it answers from a cache
// of its own, and asks nobody whether that is up to date.
type apiServer struct {
	namespace  string
	anyVersion bool
}

func (apiServer) mix() map[kind]int { return chapter08{}.mix() }

func (a apiServer) path(r read) string {
	path, query := "/api/v1/namespaces/"+a.namespace+"/pods", url.Values{}
	switch r.kind {
	case one:
		path += "/" + r.name
	case labelled:
		query.Set("labelSelector", "app="+r.app)
	}
	if a.anyVersion {
		query.Set("resourceVersion", "0")
	}
	return path + "?" + query.Encode()
}

func (a apiServer) understand(r read, body []byte) ([]sight, error) {
	var list struct {
		Items []pod
		pod
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if r.kind == one {
		list.Items = []pod{list.pod}
	}
	return sightsOf(a.namespace, r, list.Items)
}

func (a apiServer) missing(r read, body []byte) error {
	var status struct {
		Kind, Reason string
		Details      struct{ Name, Kind string }
	}
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	if status.Kind != "Status" || status.Reason != "NotFound" || status.Details.Name != r.name || status.Details.Kind != "pods" {
		return fmt.Errorf("got %s", body)
	}
	return nil
}
