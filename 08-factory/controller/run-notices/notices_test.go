// The controller of the package notices as its users see it: events come in, and requests go out.
// Fake time, and no server.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// newNotice returns the notice picnic, which wants one copy.
func newNotice() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": notices.Resource.GroupVersion().String(),
		"kind":       notices.Kind,
		"metadata": map[string]any{
			"namespace": "ns", "name": "picnic", "uid": "1", "finalizers": []any{"example.com/notices"},
		},
		"spec": map[string]any{"text": "on Sunday", "copies": int64(1)},
	}}
}

// newCopy returns a copy of a notice.
func newCopy(notice *unstructured.Unstructured, name string) *corev1.ConfigMap {
	made := fakeapi.ConfigMap(name, "7")
	made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(notice, notice.GroupVersionKind())}
	return made
}

// A world is the server of a controller: its informers list and watch, and its clients write.
type world struct {
	notices, configMaps *fakeapi.Server
	refuse              func(request string) bool // may be nil
	perEvent            time.Duration             // how long it takes to write an Event
	logger              klog.Logger               // by default, it writes nothing

	mu       sync.Mutex
	requests []string // of the clients, such as "POST configmaps"
	times    []time.Time
}

// run runs the controller in this world until stop is called, or the test ends.
func (w *world) run(t *testing.T) (stop func()) {
	reporters := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = reporters })
	utilruntime.ErrorHandlers = reporters[:1] // the second one waits in real time
	klog.SetLogger(klog.Logger{})             // this logger writes nothing
	t.Cleanup(klog.ClearLogger)
	config := &rest.Config{Host: "http://nowhere", Transport: w}
	config.ContentType = "application/json" // as RoundTrip answers; client-go would take protobuf
	return must.Run(t, func(ctx context.Context) {
		must.NoError(t, notices.Run(klog.NewContext(ctx, w.logger), config, "ns",
			notices.Options{NewInformer: w.newInformer}))
	})
}

func (w *world) newInformer(_ cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
) cache.SharedIndexInformer {
	if _, ok := example.(*corev1.ConfigMap); ok {
		return cache.NewSharedIndexInformerWithOptions(w.configMaps, example, options)
	}
	return cache.NewSharedIndexInformerWithOptions(w.notices, example, options)
}

// RoundTrip answers a request with its body, as if the server had stored that.
func (w *world) RoundTrip(request *http.Request) (*http.Response, error) {
	name := request.Method + " " + request.URL.Path[strings.LastIndex(request.URL.Path, "/namespaces/ns/")+15:]
	if strings.HasSuffix(name, " events") {
		select {
		case <-time.After(w.perEvent):
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests, w.times = append(w.requests, name), append(w.times, time.Now())
	if w.refuse != nil && w.refuse(name) {
		return nil, errors.New("out of luck")
	}
	body := request.Body
	if body == nil || request.Method == http.MethodDelete {
		body = io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: body, Request: request}, nil
}

// sent returns the times of a request.
func (w *world) sent(request string) (times []time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, name := range w.requests {
		if name == request {
			times = append(times, w.times[i])
		}
	}
	return times
}

// The server refuses all ConfigMaps for an hour. The controller does not hammer at it, and does not
// give up: nobody else would make the copy later.
func TestAnHourOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const create = "POST configmaps"
		begin := time.Now()
		w := &world{notices: fakeapi.New(newNotice()), configMaps: fakeapi.New(), refuse: func(request string) bool {
			return request == create && time.Since(begin) < time.Hour
		}}
		w.run(t)
		time.Sleep(10 * time.Minute)
		if n := len(w.sent(create)); n < 5 || n > 50 {
			t.Errorf("%d tries in ten minutes, want 5 to 50", n)
		}
		time.Sleep(2 * time.Hour) // the longest pause of the queue is 1,000 seconds
		tries := w.sent(create)
		if last := tries[len(tries)-1].Sub(begin); last < time.Hour {
			t.Errorf("the last of %d tries was after %v, and the copy was never made, want a try after an hour",
				len(tries), last)
		}
	})
}

// The Events of a hundred copies take ten seconds, and Run waits five. When it returns, all of it has
// ended: its goroutines, its requests, its log. One line says how many Events are lost.
func TestNothingIsLeftOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lost []string
		logger := funcr.New(func(_, line string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(line, "lost") {
				lost = append(lost, line)
			}
		}, funcr.Options{})
		picnic := newNotice()
		must.NoError(t, unstructured.SetNestedField(picnic.Object, int64(100), "spec", "copies"))
		w := &world{
			notices: fakeapi.New(picnic), configMaps: fakeapi.New(), perEvent: 100 * time.Millisecond, logger: logger,
		}
		before := must.Goroutines()
		stop := w.run(t)
		synctest.Wait()
		if n := len(w.sent("POST configmaps")); n != 100 {
			t.Fatalf("the controller has made %d copies, want 100", n)
		}
		stop()
		must.NoNewGoroutines(t, before)
		written := len(w.sent("POST events"))
		time.Sleep(time.Minute)
		if late := len(w.sent("POST events")) - written; late > 0 {
			t.Errorf("%d Events were written after Run had returned", late)
		}
		mu.Lock()
		defer mu.Unlock()
		want := fmt.Sprintf(`"count"=%d`, 100-written)
		if written == 0 || written == 100 || len(lost) != 1 || !strings.Contains(lost[0], want) {
			t.Errorf("%d of 100 Events were written, and the log has the lines %q, want one with %s",
				written, lost, want)
		}
	})
}

// A notice is being deleted. Its copy is deleted first, and this delete brings the notice back, so
// that the controller lets it go. The owner of a copy says which notice that is, not the name of
// the copy. It is the same if the watch misses the delete. A ConfigMap that is no copy is deleted,
// too.
func TestTheDeleteOfACopyBringsItsNoticeBack(t *testing.T) {
	for name, isGone := range map[string]func(w *world, copied *corev1.ConfigMap){
		"the watch sends the delete": func(w *world, copied *corev1.ConfigMap) {
			watch := w.configMaps.NextWatch()
			watch.Delete(fakeapi.ConfigMap("no-copy", "8"))
			watch.Delete(copied)
		},
		"the watch misses the delete": func(w *world, _ *corev1.ConfigMap) {
			w.configMaps.Set()
			fakeapi.Expire(w.configMaps.NextWatch())
			w.configMaps.NextWatch()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				picnic := newNotice()
				picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
				copied := newCopy(picnic, "menu")
				w := &world{
					notices:    fakeapi.New(picnic),
					configMaps: fakeapi.New(copied, fakeapi.ConfigMap("no-copy", "7")),
				}
				w.run(t)
				time.Sleep(time.Minute)
				if n := len(w.sent("DELETE configmaps/menu")); n != 1 {
					t.Fatalf("the copy was deleted %d times, want once; requests: %q", n, w.requests)
				}
				isGone(w, copied)
				time.Sleep(time.Hour)
				if n := len(w.sent("PUT notices/picnic")); n != 1 {
					t.Errorf("%s: an hour later, %d updates have let the notice go; want one, "+
						"because the delete brings the notice back; requests: %q", name, n, w.requests)
				}
			})
		})
	}
}

// noWrites accepts all statuses.
type noWrites struct{ dynamic.ResourceInterface }

func (noWrites) UpdateStatus(_ context.Context, obj *unstructured.Unstructured, _ metav1.UpdateOptions,
) (*unstructured.Unstructured, error) {
	return obj, nil
}

// An update changes the data, and nothing else: labels, finalizers and all else that others have
// set stay. It is for the version that the cache has. While the request is on its way, and after it
// has failed, the cached object is as it was: others read it.
func TestAnUpdateLeavesTheCacheAlone(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"another text": {"text": "cancelled"},
		"too much":     {"text": "on Sunday", "more": "bring a cake"},
		"no data":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			picnic := newNotice()
			cached := newCopy(picnic, "picnic-0")
			cached.Data = data
			cached.Labels = map[string]string{"team": "garden"}
			cached.Annotations = map[string]string{"note": "by others"}
			cached.Finalizers = []string{"example.org/archive"}
			cached.BinaryData = map[string][]byte{"map.png": {1}}
			before := cached.DeepCopy()
			unchanged := func(when string) {
				if diff := cmp.Diff(before, cached); diff != "" {
					t.Errorf("the cached object has changed %s (-before +after):\n%s", when, diff)
				}
			}
			client := fake.NewClientset()
			client.PrependReactor("update", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
				unchanged("while the update was on its way")
				want := before.DeepCopy()
				want.Data = map[string]string{"text": "on Sunday"}
				if diff := cmp.Diff(want, a.(clienttesting.UpdateAction).GetObject()); diff != "" {
					t.Errorf("the update is not the cached copy with the notice's data (-want +got):\n%s", diff)
				}
				return true, nil, errors.New("out of luck")
			})
			r := notices.Reconciler{
				Client:   client,
				Resource: noWrites{},
				Notices:  cache.NewStore(cache.MetaNamespaceKeyFunc),
				Copies:   cache.NewIndexer(cache.MetaNamespaceKeyFunc, notices.Indexers),
				Recorder: events.NewFakeRecorder(10),
			}
			must.NoError(t, r.Notices.Add(picnic))
			must.NoError(t, r.Copies.Add(cached))
			for range 2 {
				if err := r.Reconcile(t.Context(), "ns/picnic"); err == nil {
					t.Error("Reconcile returns nil, want the error of the update")
				}
				unchanged("after the update has failed")
			}
			var requests []string
			for _, action := range client.Actions() {
				requests = append(requests, action.GetVerb())
			}
			if want := []string{"update", "update"}; !slices.Equal(requests, want) {
				t.Errorf("requests %q for ConfigMaps, want %q: all else is in the cache", requests, want)
			}
		})
	}
}
