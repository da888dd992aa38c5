package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// pods are what a list has: a with its label, and not b.
func pods() []corev1.Pod {
	pod := *newPod("a", 3)
	pod.Namespace, pod.Status.Phase = "ns", "change-3"
	return []corev1.Pod{pod}
}

// Every page is compared: one that is wrong is found, whichever it is.
func TestAPageThatIsWrongAtRest(t *testing.T) {
	for name, pages := range map[string][]page{"07": pages07("ns", pods()), "08": pages08("ns", pods(), past())} {
		bad := ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, p := range pages {
				if p.path != r.RequestURI {
					continue
				}
				if p.path == bad {
					p.body = "wrong"
				}
				w.WriteHeader(p.status)
				json.NewEncoder(w).Encode(p.body)
			}
		}))
		s := &source{name: name, url: server.URL}
		if differ := s.compare(t.Context(), pages); len(differ) > 0 {
			t.Errorf("%s: all pages are right, but: %v", name, differ)
		}
		for _, p := range pages {
			bad = p.path
			if differ := s.compare(t.Context(), pages); len(differ) != 1 || !strings.Contains(differ[0].Error(), p.path+": at rest") {
				t.Errorf("%s: %s is wrong, found: %v", name, p.path, differ)
			}
		}
		server.Close()
	}
}

func TestPagesAtRest(t *testing.T) {
	app := appOf("a", 3)
	for path, want := range map[string]string{
		"/":                        `200 []`,
		"/pods":                    `200 [{"namespace":"ns","name":"a","phase":"change-3"}]`,
		"/pods?app=" + app:         `200 [{"namespace":"ns","name":"a","phase":"change-3"}]`,
		"/indexes/app/" + app:      `200 ["ns/a"]`,
		"/indexes/namespace/ns":    `200 ["ns/a"]`,
		"/indexes":                 `200 {"app":["` + app + `"],"namespace":["ns"]}`,
		"/pods/ns/b":               `404 {"error":"there is no \"ns/b\" in pods"}`,
		"/pods?label=app%3D" + app: `200 [{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",`,
	} {
		found := false
		for _, p := range append(pages07("ns", pods()), pages08("ns", pods(), past())...) {
			text, _ := json.Marshal(p.body)
			if got := http.StatusText(p.status) + " " + string(text); p.path == path && strings.HasPrefix(got, strings.NewReplacer("200 ", "OK ", "404 ", "Not Found ").Replace(want)) {
				found = true
			}
		}
		if !found {
			t.Errorf("%s is not to be %s", path, want)
		}
	}
}
