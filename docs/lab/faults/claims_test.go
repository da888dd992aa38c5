// What the page about faults says about client-go.

package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// refuser answers 401, and keeps the last token that came.
type refuser struct{ token string }

func (r *refuser) RoundTrip(request *http.Request) (*http.Response, error) {
	r.token = request.Header.Get("Authorization")
	return &http.Response{
		StatusCode: http.StatusUnauthorized, Request: request, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}

// client-go does not read the file sooner because the server refuses the token.
func TestATokenFileIsReadAgainAfterFiftySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		write := func(token string) {
			must.Do(t, os.WriteFile(file, []byte(token), 0o600))
		}
		var server refuser
		write("old")
		wrapped, err := rest.HTTPWrappersForConfig(&rest.Config{BearerTokenFile: file}, &server)
		must.Do(t, err)
		for _, test := range []struct {
			after time.Duration
			want  string
		}{{0, "Bearer old"}, {49 * time.Second, "Bearer old"}, {time.Second, "Bearer new"}} {
			time.Sleep(test.after)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1/api", nil)
			must.Do(t, err)
			response, err := wrapped.RoundTrip(request)
			must.Do(t, err)
			response.Body.Close()
			expect.That(t, server.token == test.want,
				"another %v later: %q, want %q", test.after, server.token, test.want)
			write("new")
		}
	})
}

// client-go counts only the calls that return.
func TestAHandlerThatPanicsInTheFirstListNeverSyncsWithClientGo(t *testing.T) {
	for _, impl := range implementations {
		t.Run(impl.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := fakeapi.New(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
				informer := impl.make(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
				registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
					panic("ouch")
				}})
				must.Do(t, err)
				go informer.RunWithContext(t.Context())
				time.Sleep(time.Hour)
				if got := registration.HasSynced(); got != (impl.name == ours) || !informer.HasSynced() {
					t.Errorf("after an hour: the handler has synced: %t, the informer: %t", got, informer.HasSynced())
				}
			})
		})
	}
}

// busyServer answers 429 for a while, and then with an empty list.
type busyServer struct{ until time.Time }

func (b busyServer) RoundTrip(request *http.Request) (*http.Response, error) {
	if time.Now().Before(b.until) {
		return httpfault.Refuse(apierrors.NewTooManyRequests("made up", 1))(request, nil)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: request, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"kind":"PodList","apiVersion":"v1"}`)),
	}, nil
}

func TestTheRESTClientWaitsOutA429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		client, err := kubernetes.NewForConfigAndClient(&rest.Config{QPS: -1},
			&http.Client{Transport: busyServer{start.Add(5 * time.Second)}})
		must.Do(t, err)
		_, err = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		must.Do(t, err)
		took := time.Since(start).Round(time.Millisecond)
		expect.That(t, took == 5*time.Second, "it took %v", took)
	})
}

// After a watch that ends in its first second without an event, the reflector
// lists.
func TestAVeryShortWatchIsNotResumed(t *testing.T) {
	for _, impl := range implementations {
		for after, lists := range map[time.Duration]int{time.Second / 2: 2, 2 * time.Second: 1} {
			t.Run(impl.name+" "+after.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := fakeapi.New()
					go impl.make(server, &corev1.ConfigMap{},
						cache.SharedIndexInformerOptions{}).RunWithContext(t.Context())
					w := server.NextWatch()
					time.Sleep(after)
					w.Stop()
					server.NextWatch()
					got := server.Lists()
					expect.That(t, got == lists, "%d lists, want %d", got, lists)
				})
			})
		}
	}
}
