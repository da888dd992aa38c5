package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// object returns the metadata of ns/name, with labels such as "app=web".
func object(name string, labels ...string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{}}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		meta.Labels[key] = value
	}
	return meta
}

// serveStarted serves the stores of a factory that has synced.
func serveStarted(t testing.TB, client kubernetes.Interface, secrets bool) (url string, f *factory.Factory) {
	t.Helper()
	url, f = serve(t, client, secrets)
	start(t, f)
	return url, f
}

// serve serves the stores of a factory until the test is over. It does not start the factory.
func serve(t testing.TB, client kubernetes.Interface, secrets bool) (url string, f *factory.Factory) {
	t.Helper()
	f = factory.New(client, factory.Options{Kinds: true})
	t.Cleanup(f.Shutdown)
	site, err := newSite(f, secrets)
	must.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	server, err := web.Start(ctx, "127.0.0.1:0", site.pages())
	must.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		must.NoError(t, server.Wait())
	})
	return server.URL(), f
}

// get asks for a page over a connection of its own.
func get(ctx context.Context, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// abbreviate replaces each object of an answer with its type and name, such as "v1 Pod web". It
// returns other answers, such as errors, as they are.
func abbreviate(body string) string {
	typeAndName := func(obj metav1.PartialObjectMetadata) string {
		return strings.Join([]string{obj.APIVersion, obj.Kind, obj.Name}, " ")
	}
	var obj metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(body), &obj) == nil && obj.Kind != "" {
		return typeAndName(obj)
	}
	var objs []metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(body), &objs) == nil {
		var texts []string
		for _, obj := range objs {
			texts = append(texts, typeAndName(obj))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return body
}

// newClient returns a client that has objects of several types, including a Secret.
func newClient() *fake.Clientset {
	return fake.NewClientset(
		&corev1.Pod{ObjectMeta: object("web", "app=web", "tier=front")},
		&corev1.Pod{ObjectMeta: object("db", "app=db")},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
		&appsv1.Deployment{ObjectMeta: object("shop")},
		&corev1.Secret{ObjectMeta: object("key"), StringData: map[string]string{"password": "hunter2"}},
	)
}

func TestPages(t *testing.T) {
	url, _ := serveStarted(t, newClient(), false)
	const known = `(known: [\"configmaps\" \"deployments\" \"nodes\" \"pods\" \"replicasets\" \"services\"])`
	for path, want := range map[string]string{
		"/":                            "200 [v1 Pod db, v1 Pod web]",
		"/pods":                        "200 [v1 Pod db, v1 Pod web]",
		"/?label=app%3Dweb":            "200 [v1 Pod web]",
		"/pods?label=app%3Dweb":        "200 [v1 Pod web]",
		"/pods?label=app%3D%3Ddb":      "200 [v1 Pod db]",
		"/pods?label=tier":             "200 [v1 Pod web]",
		"/pods?label=!tier":            "200 [v1 Pod db]",
		"/pods?label=app+in+(db,web)":  "200 [v1 Pod db, v1 Pod web]",
		"/pods?label=app%3Dno":         "200 []",
		"/pods?label=":                 "200 [v1 Pod db, v1 Pod web]",
		"/services":                    "200 []",
		"/nodes":                       "200 [v1 Node node-1]",
		"/deployments":                 "200 [apps/v1 Deployment shop]",
		"/pods/ns/web":                 "200 v1 Pod web",
		"/nodes/-/node-1":              "200 v1 Node node-1",
		"/pods/ns/no":                  `404 {"error":"there is no \"ns/no\" in pods"}`,
		"/pods/other/web":              `404 {"error":"there is no \"other/web\" in pods"}`,
		"/pods/-/web":                  `404 {"error":"there is no \"-/web\" in pods"}`,
		"/pods/ns":                     `404 {"error":"there is no page \"/pods/ns\""}`,
		"/Pods":                        `404 {"error":"there is no resource \"Pods\" here ` + known + `"}`,
		"/pods/ns/web?label=app%3Dweb": `400 {"error":"the query: there is no parameter \"label\" here (known: [])"}`,
		"/pods?label=a&label=b":        `400 {"error":"the query: label is given 2 times"}`,
		"/pods?label=%3D": `400 {"error":"the label selector \"=\": ` +
			`found '=', expected: !, identifier, or 'end of string'"}`,
		"/healthz":        `200 {"live":true}`,
		"/readyz":         `200 {"ready":true}`,
		"/readyz?verbose": `400 {"error":"the query: there is no parameter \"verbose\" here (known: [])"}`,
	} {
		status, body, err := get(t.Context(), url+path)
		must.NoError(t, err)
		if got := fmt.Sprintf("%d %s", status, abbreviate(body)); got != want {
			t.Errorf("GET %s = %s\nwant %s", path, got, want)
		}
	}
}

func TestNotReadyBeforeTheFirstLists(t *testing.T) {
	url, f := serve(t, newClient(), false)
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 503, "/": 503, "/pods": 503, "/pods/ns/web": 503, "/secrets": 403, "/no": 404,
	} {
		status, body, err := get(t.Context(), url+path)
		must.NoError(t, err)
		if status != want {
			t.Errorf("before the first lists, GET %s = %d %s, want %d", path, status, body, want)
		}
	}
	_, body, err := get(t.Context(), url+"/readyz")
	if want := "waiting for the first list of configmaps, deployments, nodes, pods"; err != nil || !strings.Contains(body, want) {
		t.Errorf("before the first lists, GET /readyz = %s, %v; want %q in it", body, err, want)
	}
	start(t, f)
	status, body, err := get(t.Context(), url+"/readyz")
	if status != 200 || err != nil {
		t.Errorf("after the first lists, GET /readyz = %d, %s, %v; want 200, nil", status, body, err)
	}
}

// Without -secrets, the factory does not even list Secrets.
func TestSecretsOnlyIfTheyAreWanted(t *testing.T) {
	client := newClient()
	url, _ := serveStarted(t, client, false)
	const want = `{"error":"secrets are not shown, and not even cached: start with -secrets if you want that"}`
	for _, path := range []string{"/secrets", "/secrets/ns/key", "/secrets?label=x"} {
		status, body, err := get(t.Context(), url+path)
		must.NoError(t, err)
		if status != 403 || body != want {
			t.Errorf("GET %s = %d %s\nwant 403 %s", path, status, body, want)
		}
	}
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "secrets" {
			t.Errorf("the API server got the request %s secrets, want none for secrets", action.GetVerb())
		}
	}
	url, _ = serveStarted(t, client, true)
	status, body, err := get(t.Context(), url+"/secrets/ns/key")
	if status != 200 || err != nil || !strings.Contains(body, "hunter2") {
		t.Errorf("with secrets, GET /secrets/ns/key = %d, %s, %v; want 200, the password, nil", status, body, err)
	}
}

// A slow client reads a list of 20,000 objects. While the server writes the answer, the answer is
// not in memory as a whole.
func TestALongListIsNotInMemoryTwice(t *testing.T) {
	const n = 20_000
	objs := make([]runtime.Object, n)
	for i := range objs {
		objs[i] = &corev1.ConfigMap{
			ObjectMeta: object(fmt.Sprintf("object-%05d", i)),
			Data:       map[string]string{"text": strings.Repeat("x", 1024)},
		}
	}
	client := fake.NewClientset(objs...)
	url, f := serveStarted(t, client, false)
	size := 0 // of the answer, about
	for _, obj := range f.ConfigMaps().Informer().GetStore().List() {
		text, err := json.Marshal(obj)
		must.NoError(t, err)
		size += len(text)
	}
	before := usage.Heap()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/configmaps", nil)
	must.NoError(t, err)
	slow := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := slow.Do(request)
	must.NoError(t, err)
	defer response.Body.Close()
	begin := make([]byte, 1)
	_, err = io.ReadFull(response.Body, begin) // now the server has begun to write
	must.NoError(t, err)
	more := usage.Heap() - before
	t.Logf("while the server writes %d KiB, %d KiB more are in memory", size>>10, more>>10)
	if more > size/4 {
		t.Errorf("while the server writes %d KiB, %d KiB more are in memory, want at most %d KiB",
			size>>10, more>>10, size>>12)
	}
	// The server writes for at most half a minute. To decode takes long, so the test first reads
	// everything.
	rest, err := io.ReadAll(response.Body)
	must.NoError(t, err)
	var got []corev1.ConfigMap
	must.NoError(t, json.Unmarshal(append(begin, rest...), &got))
	if len(got) != n {
		t.Errorf("the answer has %d objects, want %d", len(got), n)
	}
}
