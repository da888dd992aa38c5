package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/scripts/harness/must"
)

// serve serves pods until the test is over. apps has the label app of each pod, by the name of the
// pod.
func serve(t *testing.T, apps map[string]string) (url string) {
	t.Helper()
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		"app":  func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Labels["app"]}, nil },
		"node": func(any) ([]string, error) { return nil, nil },
	})
	for name, app := range apps {
		must.NoError(t, index.Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": app}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	server, err := web.Start(ctx, "127.0.0.1:0", podPages{index}.pages())
	must.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		must.NoError(t, server.Wait())
	})
	return server.URL()
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	must.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.NoError(t, err)
	const want = "application/json; charset=utf-8"
	if got := response.Header.Get("Content-Type"); got != want {
		t.Errorf("GET %s: Content-Type %q, want %q", url, got, want)
	}
	return response.StatusCode, strings.TrimSpace(string(text))
}

func TestPages(t *testing.T) {
	url := serve(t, map[string]string{"b": "mysqltest", "a": "mysqltest", "c": "a b +%", "d": ""})
	const (
		a = `{"namespace":"ns","name":"a","phase":"Running"}`
		b = `{"namespace":"ns","name":"b","phase":"Running"}`
		c = `{"namespace":"ns","name":"c","phase":"Running"}`
		d = `{"namespace":"ns","name":"d","phase":"Running"}`
	)
	for _, test := range []struct {
		path   string
		status int
		body   string // the whole answer; with an error, a part of it
	}{
		{"/", 200, `["ns/a","ns/b"]`},
		{"/pods", 200, "[" + a + "," + b + "," + c + "," + d + "]"},
		{"/pods?app=mysqltest", 200, "[" + a + "," + b + "]"},
		{"/pods?app=a%20b%20%2B%25", 200, "[" + c + "]"},
		{"/pods?app=", 200, "[" + d + "]"},
		{"/pods?app=none", 200, "[]"},
		{"/indexes", 200, `{"app":["","a b +%","mysqltest"],"node":[]}`},
		{"/indexes/app/mysqltest", 200, `["ns/a","ns/b"]`},
		{"/indexes/app/a%20b%20+%25", 200, `["ns/c"]`},
		{"/indexes/app/none", 200, "[]"},
		{"/indexes/node/none", 200, "[]"},
		{"/indexes/colour/blue", 404, `there is no index \"colour\" (known: [\"app\" \"node\"])`},
		{"/indexes/app", 404, "there is no page"},
		{"/indexes/app/", 400, "the path"},
		{"/pod", 404, "there is no page"},
		{"/?app=x", 400, `no parameter \"app\"`},
		{"/indexes?x", 400, `no parameter \"x\"`},
		{"/indexes/app/mysqltest?x=1", 400, `no parameter \"x\"`},
		{"/pods?App=x", 400, `(known: [\"app\"])`},
		{"/pods?app=1&app=2", 400, "2 times"},
		{"/pods?app=%zz", 400, "the query"},
	} {
		status, body := get(t, url+test.path)
		if status != test.status {
			t.Errorf("GET %s: status %d, want %d; the answer is %s", test.path, status, test.status, body)
		}
		if test.status == http.StatusOK && body != test.body {
			t.Errorf("GET %s = %s, want %s", test.path, body, test.body)
		}
		if !strings.Contains(body, test.body) {
			t.Errorf("GET %s = %s, want an answer that contains %s", test.path, body, test.body)
		}
	}
}

func TestPagesOfAnEmptyStoreAreEmptyAndNotNull(t *testing.T) {
	url := serve(t, nil)
	for path, want := range map[string]string{
		"/": "[]", "/pods": "[]", "/pods?app=x": "[]", "/indexes": `{"app":[],"node":[]}`,
	} {
		status, body := get(t, url+path)
		if status != http.StatusOK || body != want {
			t.Errorf("GET %s = %d %s, want 200 %s", path, status, body, want)
		}
	}
}
