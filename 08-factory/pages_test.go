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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

func object(name string, labels ...string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{}}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		meta.Labels[key] = value
	}
	return meta
}

// serve serves a factory's stores until the test is over.
func serve(t testing.TB, client kubernetes.Interface, withSecrets, started bool) (url string, f *factory.Factory) {
	t.Helper()
	f = factory.New(client, factory.Options{Kinds: true})
	t.Cleanup(f.Shutdown)
	site, err := newSite(f, withSecrets)
	must.Do(t, err)
	if started {
		start(t, f)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	server, err := web.Start(ctx, addr, site.pages())
	must.Do(t, err)
	t.Cleanup(func() { cancel(); must.Do(t, server.Wait()) })
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

// brief is an answer that has "v1 Pod web" in the place of each object.
func brief(body string) string {
	called := func(obj metav1.PartialObjectMetadata) string {
		return strings.Join([]string{obj.APIVersion, obj.Kind, obj.Name}, " ")
	}
	var obj metav1.PartialObjectMetadata
	var objs []metav1.PartialObjectMetadata
	switch {
	case json.Unmarshal([]byte(body), &obj) == nil && obj.Kind != "":
		return called(obj)
	case json.Unmarshal([]byte(body), &objs) == nil:
		var texts []string
		for _, obj := range objs {
			texts = append(texts, called(obj))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return body // an error, say
}

// some has objects of a few types, a Secret among them.
func some() kubernetes.Interface {
	return fake.NewClientset(
		&corev1.Pod{ObjectMeta: object("web", "app=web", "tier=front")},
		&corev1.Pod{ObjectMeta: object("db", "app=db")},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
		&appsv1.Deployment{ObjectMeta: object("shop")},
		&corev1.Secret{ObjectMeta: object("key"), StringData: map[string]string{"password": "hunter2"}},
	)
}

func TestPages(t *testing.T) {
	url, _ := serve(t, some(), false, true)
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
		must.Do(t, err)
		got := fmt.Sprintf("%d %s", status, brief(body))
		expect.That(t, got == want, "%s: got %s\nwant %s", path, got, want)
	}
}

func TestNotReadyBeforeTheFirstLists(t *testing.T) {
	url, f := serve(t, some(), false, false)
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 503, "/": 503, "/pods": 503, "/pods/ns/web": 503, "/secrets": 403, "/no": 404,
	} {
		status, body, err := get(t.Context(), url+path)
		must.Do(t, err)
		expect.That(t, status == want, "%s: got %d %s, want %d", path, status, body, want)
	}
	start(t, f)
	status, body, err := get(t.Context(), url+"/readyz")
	expect.That(t, status == 200 && err == nil, "got %d %s, %v; want that it is ready", status, body, err)
}

// What nobody asked for does not leave the process, and does not even enter it.
func TestSecretsOnlyIfTheyAreWanted(t *testing.T) {
	client := some()
	url, _ := serve(t, client, false, true)
	const want = `{"error":"secrets are not shown, and not even cached: start with -secrets if you want that"}`
	for _, path := range []string{"/secrets", "/secrets/ns/key", "/secrets?label=x"} {
		status, body, err := get(t.Context(), url+path)
		must.Do(t, err)
		expect.That(t, status == 403 && body == want, "%s: got %d %s\nwant 403 %s", path, status, body, want)
	}
	for _, action := range client.(*fake.Clientset).Actions() {
		expect.That(t, action.GetResource().Resource != "secrets", "the server was asked: %s secrets", action.GetVerb())
	}
	url, _ = serve(t, client, true, true)
	status, body, err := get(t.Context(), url+"/secrets/ns/key")
	expect.That(t, status == 200 && err == nil && strings.Contains(body, "hunter2"),
		"with the flag: got %d %s, %v", status, body, err)
}

// A client that takes its time has a list of 20,000 objects under way: it is
// not in memory a second time.
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
	url, f := serve(t, client, false, true)
	size := 0
	for _, obj := range f.ConfigMaps().Informer().GetStore().List() {
		text, err := json.Marshal(obj)
		must.Do(t, err)
		size += len(text)
	}
	before := usage.Heap()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/configmaps", nil)
	must.Do(t, err)
	slow := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := slow.Do(request)
	must.Do(t, err)
	defer response.Body.Close()
	begin := make([]byte, 1)
	_, err = io.ReadFull(response.Body, begin) // the answer has begun
	must.Do(t, err)
	more := usage.Heap() - before
	t.Logf("an answer of %d KiB, under way: %d KiB more in memory", size>>10, more>>10)
	expect.That(t, more <= size/4, "an answer of %d KiB, under way: %d KiB more in memory", size>>10, more>>10)
	// The server writes for half a minute at most. To decode takes longer than to read, and comes after it.
	rest, err := io.ReadAll(response.Body)
	must.Do(t, err)
	var got []corev1.ConfigMap
	must.Do(t, json.Unmarshal(append(begin, rest...), &got))
	if len(got) != n {
		t.Errorf("%d objects, want %d", len(got), n)
	}
}
