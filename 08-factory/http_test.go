// What the step http serves, from a fake clientset.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// serve runs the step http until the test is over. The server answers when serve returns; the
// caches may not be complete.
func serve(t *testing.T, client *fake.Clientset) (url string) {
	t.Helper()
	out := &record.Buffer{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- stepHTTP(ctx, &step.Env{Env: &play.Env{Out: out}, Client: client}) }()
	t.Cleanup(func() {
		cancel()
		must.NoError(t, <-ended)
	})
	return await(t, out, ownURL)
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

// awaitReady waits until the server says that it is ready.
func awaitReady(t *testing.T, url string) {
	t.Helper()
	must.Until(t, "the server is ready", func() bool {
		status, _, err := get(t.Context(), url+"/readyz")
		return err == nil && status == http.StatusOK
	})
}

// abbreviate replaces each object of an answer with its type and name, such as "v1 Pod web", in the
// order of these texts. It returns other answers, such as errors, as they are.
func abbreviate(body string) string {
	typeAndName := func(obj metav1.PartialObjectMetadata) string {
		return strings.Join([]string{obj.APIVersion, obj.Kind, obj.Name}, " ")
	}
	var obj metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(body), &obj) == nil && obj.Kind != "" {
		return typeAndName(obj)
	}
	var objs []metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(body), &objs) == nil && len(objs) > 0 {
		var texts []string
		for _, obj := range objs {
			texts = append(texts, typeAndName(obj))
		}
		slices.Sort(texts)
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return body
}

func object(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }

// newClient returns a client that has objects of several types, including a Secret.
func newClient() *fake.Clientset {
	return fake.NewClientset(
		&corev1.Pod{ObjectMeta: object("web")},
		&corev1.Pod{ObjectMeta: object("db")},
		&appsv1.Deployment{ObjectMeta: object("shop")},
		&corev1.Secret{ObjectMeta: object("key"), StringData: map[string]string{"password": "hunter2"}},
	)
}

func TestPages(t *testing.T) {
	url := serve(t, newClient())
	awaitReady(t, url)
	for path, want := range map[string]string{
		"/":                    "200 [v1 Pod db, v1 Pod web]",
		"/pods":                "200 [v1 Pod db, v1 Pod web]",
		"/services":            "200 []",
		"/deployments":         "200 [apps/v1 Deployment shop]",
		"/pods/ns/web":         "200 v1 Pod web",
		"/deployments/ns/shop": "200 apps/v1 Deployment shop",
		"/pods/ns/no":          `404 {"error":"there is no such object"}`,
		"/pods/other/web":      `404 {"error":"there is no such object"}`,
		"/pods/ns":             `404 {"error":"there is no page \"/pods/ns\""}`,
		"/Pods":                `404 {"error":"there is no page \"/Pods\""}`,
		"/healthz":             `200 {"live":true}`,
		"/readyz":              `200 {"ready":true}`,
	} {
		status, body, err := get(t.Context(), url+path)
		must.NoError(t, err)
		if got := fmt.Sprintf("%d %s", status, abbreviate(body)); got != want {
			t.Errorf("GET %s = %s\nwant %s", path, got, want)
		}
	}
}

func TestNotReadyBeforeTheFirstLists(t *testing.T) {
	client := newClient()
	var allowed atomic.Bool
	client.PrependReactor("list", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return !allowed.Load(), nil, errors.New("not yet")
	})
	url := serve(t, client)
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 503, "/": 503, "/pods": 503, "/pods/ns/web": 503,
	} {
		status, body, err := get(t.Context(), url+path)
		must.NoError(t, err)
		if status != want || want == 503 && !strings.HasPrefix(body, `{"error":"waiting for the first list of `) {
			t.Errorf("before the first lists, GET %s = %d %s, want %d", path, status, body, want)
		}
	}
	must.Until(t, "the server waits only for the deployments", func() bool {
		_, body, err := get(t.Context(), url+"/readyz")
		return err == nil && body == `{"error":"waiting for the first list of deployments"}`
	})
	allowed.Store(true)
	awaitReady(t, url)
}

// Without -secrets, the factory does not even list Secrets.
func TestSecretsOnlyIfTheyAreWanted(t *testing.T) {
	client := newClient()
	url := serve(t, client)
	awaitReady(t, url)
	for _, path := range []string{"/secrets", "/secrets/ns/key"} {
		status, body, err := get(t.Context(), url+path)
		must.NoError(t, err)
		if status != 404 || !strings.Contains(body, "there is no page") {
			t.Errorf("GET %s = %d %s, want 404: there is no page", path, status, body)
		}
	}
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "secrets" {
			t.Errorf("the API server got the request %s secrets, want none for secrets", action.GetVerb())
		}
	}
	secrets = true
	defer func() { secrets = false }()
	url = serve(t, client)
	awaitReady(t, url)
	status, body, err := get(t.Context(), url+"/secrets/ns/key")
	if status != 200 || err != nil || !strings.Contains(body, "hunter2") {
		t.Errorf("with secrets, GET /secrets/ns/key = %d, %s, %v; want 200, the password, nil", status, body, err)
	}
}
