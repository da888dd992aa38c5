// The controller of the package notices as its users see it: events come in, and requests go out.
// Fake time, and no server.

package main

import (
	"context"
	"errors"
	"fmt"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	"example.com/informer/scripts/harness/fault"
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

func newCopy(notice *unstructured.Unstructured, name string) *corev1.ConfigMap {
	made := fakeapi.ConfigMap(name, "7")
	made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(notice, notice.GroupVersionKind())}
	return made
}

// A world is the server of a controller: its informers list and watch, and its clients write. It
// records the requests of the clients.
type world struct {
	fault.Requests
	notices, configMaps *fakeapi.Server
	logger              klog.Logger // by default, it writes nothing
}

// run runs the controller in this world until stop is called, or the test ends.
func (w *world) run(t *testing.T) (stop func()) {
	reporters := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = reporters })
	utilruntime.ErrorHandlers = reporters[:1] // the second one waits in real time
	klog.SetLogger(klog.Logger{})             // this logger writes nothing
	t.Cleanup(klog.ClearLogger)
	config := &rest.Config{Host: "http://nowhere", Transport: fault.RoundTripper(echo)}
	config.ContentType = "application/json" // as echo answers; client-go would take protobuf
	config.Wrap(w.Wrap)
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

// echo answers a request with its body, as if the server had stored that.
func echo(request *http.Request) (*http.Response, error) {
	if request.Body == nil || request.Method == http.MethodDelete {
		body := strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Success"}`)
		return fault.Respond(request, http.StatusOK, body), nil
	}
	return fault.Respond(request, http.StatusOK, request.Body), nil
}

// creates matches the creates of a resource.
func creates(resource string) func(*fault.Request) bool {
	return func(sent *fault.Request) bool { return sent.Verb == fault.Create && sent.Resource == resource }
}

// about matches the requests about an object, with this verb.
func about(verb fault.Verb, resource, name string) func(*fault.Request) bool {
	return func(sent *fault.Request) bool {
		return sent.Verb == verb && sent.Resource == resource && sent.Name == name && sent.Subresource == ""
	}
}

// The server refuses all ConfigMaps for an hour. The controller does not hammer at it, and does not
// give up: nobody else would make the copy later.
func TestAnHourOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isCreate := creates("configmaps")
		w := &world{notices: fakeapi.New(newNotice()), configMaps: fakeapi.New()}
		heal := w.Add(fault.Rule{
			Matches: isCreate, Answer: fault.Refuse(apierrors.NewInternalError(errors.New("out of luck"))),
		})
		w.run(t)
		time.Sleep(10 * time.Minute)
		if n := w.Count(isCreate); n < 5 || n > 50 {
			t.Errorf("%d tries in ten minutes, want 5 to 50", n)
		}
		time.Sleep(50 * time.Minute)
		heal()
		tries := w.Count(isCreate)
		time.Sleep(time.Hour) // the longest pause of the queue is 1,000 seconds
		if w.Count(isCreate) == tries {
			t.Errorf("after %d tries in an hour, the server works, and there is no other try in the next hour", tries)
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
		w := &world{notices: fakeapi.New(picnic), configMaps: fakeapi.New(), logger: logger}
		w.Add(fault.Rule{Matches: creates("events"), Answer: func(request *http.Request, next http.RoundTripper) (
			*http.Response, error) {
			select {
			case <-time.After(100 * time.Millisecond):
				return next.RoundTrip(request)
			case <-request.Context().Done():
				return nil, request.Context().Err()
			}
		}})
		isWritten := func(sent *fault.Request) bool {
			return creates("events")(sent) && sent.Status == http.StatusOK
		}
		before := must.Goroutines()
		stop := w.run(t)
		synctest.Wait()
		if n := w.Count(creates("configmaps")); n != 100 {
			t.Fatalf("the controller has made %d copies, want 100", n)
		}
		stop()
		must.NoNewGoroutines(t, before)
		written, sent := w.Count(isWritten), w.Mark()
		time.Sleep(time.Minute)
		if late := w.Count(isWritten) - written + w.Mark() - sent; late > 0 {
			t.Errorf("%d requests were sent, or Events written, after Run had returned", late)
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
// the copy. It is the same if the watch misses the delete. A ConfigMap that is not a copy is deleted,
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
				if n := w.Count(about(fault.Delete, "configmaps", "menu")); n != 1 {
					t.Fatalf("the copy was deleted %d times, want once", n)
				}
				isGone(w, copied)
				time.Sleep(time.Hour)
				if n := w.Count(about(fault.Update, "notices", "picnic")); n != 1 {
					t.Errorf("%s: an hour later, %d updates have let the notice go; want one, "+
						"because the delete brings the notice back", name, n)
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
