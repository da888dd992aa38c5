// Package survival tests a controller: any function like notices.Run, of any custom
// resource, whose children are ConfigMaps.
package survival

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// A Controller is what is tested.
type Controller struct {
	Run func(ctx context.Context, config *rest.Config, namespace string, newInformer NewInformer) error

	// Definition and Object are files in the folder testdata of Files: a
	// CustomResourceDefinition, and one object. Resource names that object as kubectl
	// does, such as notice/picnic.
	Files                        fs.FS
	Definition, Object, Resource string

	// Children are the ConfigMaps that the object is to have, by name, each with at least
	// this data. After Change, a merge patch of the object, it is to have those in Changed.
	Children map[string]map[string]string
	Change   string
	Changed  map[string]map[string]string
}

// NewInformer makes an informer.
type NewInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// Test runs the controller and does to it what happens to controllers.
func Test(t *testing.T, c Controller, newInformer NewInformer) {
	r := &run{Controller: c, newInformer: newInformer, Session: sessiontest.Open(t)}
	proxy, err := netfault.For(r.Config)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	t.Cleanup(func() { // of a test that fails, the namespace could not be removed without this
		_, _ = r.Kubectl(context.WithoutCancel(t.Context()), c.Files, "patch", c.Resource, "--type=merge",
			"--patch", `{"metadata":{"finalizers":null}}`)
	})
	r.config = rest.CopyConfig(r.Config)
	r.config.Dial = proxy.Dial
	r.config.Wrap(r.failWrites)
	r.kubectl(t, "apply --server-side -f "+c.Definition)

	first := slices.Sorted(maps.Keys(c.Children))[0]
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: first}}
	_, err = r.Client.CoreV1().ConfigMaps(r.Namespace).Create(t.Context(), foreign, metav1.CreateOptions{})
	must.Do(t, err)

	stop := r.start(t)
	r.kubectl(t, "create -f "+c.Object)
	r.wait(t, "it makes all children but one, whose name somebody else has", func(found children) error {
		if found[first] != nil {
			return fmt.Errorf("it has taken %s from somebody else", first)
		}
		return r.compare(found, func(name string) bool { return name != first })
	})
	r.deleteChild(t, first)
	r.wait(t, "it makes that child when the name is free", r.complete)
	r.waitForStatus(t)

	last := slices.Sorted(maps.Keys(c.Children))[len(c.Children)-1]
	r.deleteChild(t, last)
	r.wait(t, "it makes a child again that somebody has deleted", r.complete)
	r.changeChild(t, first)
	r.wait(t, "it mends a child that somebody has changed", r.complete)

	r.failures.Store(2)
	r.deleteChild(t, last)
	r.wait(t, "it tries a write again that has failed, and again", r.complete)
	r.conflicts.Store(2) // the child and the status, so that no event of a write brings the key back
	r.changeChild(t, first)
	r.wait(t, "it tries a write again after a conflict, even if nothing else happens", r.complete)
	if r.failures.Load() > 0 || r.conflicts.Load() > 0 {
		t.Error("it has not made the writes that were to fail")
	}

	proxy.Cut()
	r.deleteChild(t, last)
	r.changeChild(t, first)
	proxy.Restore()
	r.wait(t, "it mends what has happened while its connections were cut", r.complete)

	stop()
	r.deleteChild(t, last)
	r.changeChild(t, first)
	stop = r.start(t)
	r.wait(t, "it mends what has happened while it did not run", r.complete)

	// Somebody writes to the same child all the time.
	writing, stopWriting := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() { written <- r.keepWriting(writing, first) }()
	r.changeChild(t, first)
	r.wait(t, "it mends a child that somebody else writes to all the time", r.complete)
	stopWriting()
	if err := <-written; !errors.Is(err, context.Canceled) {
		t.Error("the other writer:", err)
	}

	_, err = r.Kubectl(t.Context(), c.Files, "patch", c.Resource, "--type=merge", "--patch", c.Change)
	must.Do(t, err)
	r.Children = c.Changed
	r.wait(t, "it follows a change of the object", r.complete)
	r.waitForStatus(t)

	r.kubectl(t, "delete "+c.Resource)
	r.wait(t, "its children go with the object", func(found children) error {
		if len(found) > 0 {
			return fmt.Errorf("there are %d", len(found))
		}
		return nil
	})
	r.kubectl(t, "wait "+c.Resource+" --for=delete")
	stop()
}

type run struct {
	Controller
	*session.Session
	newInformer NewInformer
	config      *rest.Config // through the proxy

	failures, conflicts atomic.Int32 // how many of the next writes of ConfigMaps, and of the next updates, end so
}

type children map[string]*corev1.ConfigMap

// failWrites lets writes fail, as long as they are to.
func (r *run) failWrites(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		update := request.Method == http.MethodPut || request.Method == http.MethodPatch
		switch {
		case request.Method == http.MethodGet || strings.Contains(request.URL.Path, "/events"):
		case strings.Contains(request.URL.Path, "/configmaps") && r.failures.Add(-1) >= 0:
			return nil, errors.New("this write was made to fail")
		case update && r.conflicts.Add(-1) >= 0:
			status := apierrors.NewConflict(corev1.Resource("configmaps"), path.Base(request.URL.Path),
				errors.New("this update was made to meet a conflict")).Status()
			status.APIVersion, status.Kind = "v1", "Status"
			body, err := json.Marshal(status)
			return &http.Response{
				StatusCode: http.StatusConflict, Request: request,
				Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
			}, err
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *run) kubectl(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	_, err := r.Kubectl(t.Context(), r.Files, words[0], words[1:]...)
	must.Do(t, err)
}

// start runs the controller until stop is called, which waits for its end.
func (r *run) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, r.config, r.Namespace, r.newInformer) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			must.Do(t, err)
		case <-time.After(time.Minute):
			t.Fatal("it does not end within a minute after its context")
		}
	}
}

// wait waits until the children are as wanted.
func (r *run) wait(t *testing.T, what string, check func(children) error) {
	t.Helper()
	var wrong error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true,
		func(ctx context.Context) (bool, error) {
			list, err := r.Client.CoreV1().ConfigMaps(r.Namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			found := children{}
			for _, child := range list.Items {
				if metav1.GetControllerOf(&child) != nil {
					found[child.Name] = &child
				}
			}
			wrong = check(found)
			return wrong == nil, nil
		})
	if err != nil {
		t.Fatalf("%s: not in two minutes: %v", what, errors.Join(wrong, err))
	}
}

// complete wants all children, and no others.
func (r *run) complete(found children) error {
	if len(found) > len(r.Children) {
		return fmt.Errorf("there are %d, %d were wanted", len(found), len(r.Children))
	}
	return r.compare(found, func(string) bool { return true })
}

// compare looks at the children with these names.
func (r *run) compare(found children, names func(string) bool) error {
	for name, data := range r.Children {
		child := found[name]
		switch {
		case !names(name):
		case child == nil:
			return fmt.Errorf("there is no %s", name)
		default:
			for key, value := range data {
				if child.Data[key] != value {
					return fmt.Errorf("%s has %s: %q, not %q", name, key, child.Data[key], value)
				}
			}
		}
	}
	return nil
}

// waitForStatus wants a status that is about the newest spec.
func (r *run) waitForStatus(t *testing.T) {
	t.Helper()
	must.Until(t, "status.observedGeneration is metadata.generation", func() bool {
		lines, err := r.Kubectl(t.Context(), r.Files, "get", r.Resource,
			"-o", "jsonpath={.metadata.generation} {.status.observedGeneration}")
		must.Do(t, err)
		generation, observed, _ := strings.Cut(strings.Join(lines, ""), " ")
		return generation == observed
	})
}

func (r *run) deleteChild(t *testing.T, name string) {
	t.Helper()
	must.Do(t, r.Client.CoreV1().ConfigMaps(r.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

func (r *run) changeChild(t *testing.T, name string) {
	t.Helper()
	changed := map[string]string{"added": "by somebody else"}
	for key := range r.Children[name] {
		changed[key] = "somebody else's"
	}
	data, err := json.Marshal(changed)
	must.Do(t, err)
	must.Do(t, r.patch(t.Context(), name, `{"data":`+string(data)+`}`))
}

func (r *run) patch(ctx context.Context, name, patch string) error {
	_, err := r.Client.CoreV1().ConfigMaps(r.Namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	return err
}

// keepWriting changes an annotation of a child, as fast as it can.
func (r *run) keepWriting(ctx context.Context, name string) error {
	for i := 0; ; i++ {
		if err := r.patch(ctx, name, fmt.Sprintf(`{"metadata":{"annotations":{"writes":"%d"}}}`, i)); err != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}
