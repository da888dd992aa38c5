// The quiet point: when nothing changes any more, every page is to show what
// the API server has.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A page is what is to be read under a path.
type page struct {
	path   string
	status int
	body   any // as JSON
}

// pages07 are those of chapter 07, where these pods are there.
func pages07(namespace string, pods []corev1.Pod) []page {
	type line struct {
		Namespace string          `json:"namespace"`
		Name      string          `json:"name"`
		Phase     corev1.PodPhase `json:"phase"`
	}
	lines, names, values := map[string][]line{}, map[string][]string{}, []string{}
	for _, pod := range pods {
		for _, app := range []string{"", pod.Labels["app"]} { // without a label: all
			lines[app] = append(lines[app], line{namespace, pod.Name, pod.Status.Phase})
			names[app] = append(names[app], namespace+"/"+pod.Name)
		}
	}
	pages := []page{{"/", 200, []string{}}, {"/pods", 200, some(lines[""])}, {"/indexes/namespace/" + namespace, 200, some(names[""])}}
	for n := range apps {
		app := appName(n)
		pages = append(pages, page{"/pods?app=" + app, 200, some(lines[app])}, page{"/indexes/app/" + app, 200, some(names[app])})
		if len(names[app]) > 0 {
			values = append(values, app)
		}
	}
	inUse := []string{}
	if len(pods) > 0 {
		inUse = append(inUse, namespace)
	}
	return append(pages, page{"/indexes", 200, map[string][]string{"app": values, "namespace": inUse}})
}

// some is never null.
func some[T any](list []T) []T { return append([]T{}, list...) }

// pages08 are those of chapter 08, where these pods are there, and no others
// but objects have these names.
func pages08(namespace string, pods []corev1.Pod, objects []*history) []page {
	there, labelled := map[string]corev1.Pod{}, map[string][]corev1.Pod{}
	for i := range pods {
		pod := &pods[i]
		pod.APIVersion, pod.Kind, pod.ManagedFields = "v1", "Pod", nil
		there[pod.Name] = *pod
		labelled[pod.Labels["app"]] = append(labelled[pod.Labels["app"]], *pod)
	}
	pages := []page{{"/", 200, some(pods)}, {"/pods", 200, some(pods)}}
	for n := range apps {
		pages = append(pages, page{"/pods?label=app%3D" + appName(n), 200, some(labelled[appName(n)])})
	}
	for _, object := range objects {
		path := "/pods/" + namespace + "/" + object.name
		if pod, ok := there[object.name]; ok {
			pages = append(pages, page{path, 200, pod})
		} else {
			pages = append(pages, page{path, 404, map[string]string{"error": fmt.Sprintf("there is no %q in pods", namespace+"/"+object.name)}})
		}
	}
	return pages
}

// settleTimeout is how long the last change may take to come to the pages.
const settleTimeout = 30 * time.Second

// settle waits until every page of a source equals a fresh list, and returns
// how many do not, if they never do.
func (s *source) settle(ctx context.Context, server kubernetes.Interface) (wrong int, err error) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for late := time.After(settleTimeout); ; {
		list, err := server.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, err
		}
		differ := s.compare(ctx, s.pages(list.Items))
		if len(differ) == 0 {
			return 0, nil
		}
		select {
		case <-again.C:
		case <-late:
			return len(differ), differ[0]
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// compare returns what is not as it should be.
func (s *source) compare(ctx context.Context, pages []page) (differ []error) {
	transport := s.connection()
	defer transport.CloseIdleConnections()
	for _, p := range pages {
		want, _ := json.Marshal(p.body) // it never fails
		status, got, err := get(ctx, transport, s.url+p.path)
		if err == nil && (status != p.status || !bytes.Equal(got, want)) {
			err = fmt.Errorf("at rest, it is %d %.300s; by a fresh list %d %.300s", status, got, p.status, want)
		}
		if err != nil {
			differ = append(differ, fmt.Errorf("%s: %s: %w", s.name, p.path, err))
		}
	}
	return differ
}

// get asks for a page, and returns its JSON without spaces and lines.
func get(ctx context.Context, transport http.RoundTripper, url string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, text)
	return response.StatusCode, compact.Bytes(), err
}
