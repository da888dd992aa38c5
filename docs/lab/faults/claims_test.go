// Tests of the claims about client-go on the page about faults.

package faults

import (
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

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
)

// client-go reads a token file again after 50 seconds. It does not read it sooner if the server
// refuses the token.
func TestATokenFileIsReadAgainAfterFiftySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		write := func(token string) {
			must.NoError(t, os.WriteFile(file, []byte(token), 0o600))
		}
		write("old")
		var token string // of the last request
		server := fault.RoundTripper(func(request *http.Request) (*http.Response, error) {
			token = request.Header.Get("Authorization")
			return fault.Respond(request, http.StatusUnauthorized, http.NoBody), nil
		})
		wrapped, err := rest.HTTPWrappersForConfig(&rest.Config{BearerTokenFile: file}, server)
		must.NoError(t, err)
		start := time.Now()
		for _, test := range []struct {
			at   time.Duration
			want string
		}{{0, "Bearer old"}, {49 * time.Second, "Bearer old"}, {50 * time.Second, "Bearer new"}} {
			time.Sleep(test.at - time.Since(start))
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1/api", nil)
			must.NoError(t, err)
			response, err := wrapped.RoundTrip(request)
			must.NoError(t, err)
			response.Body.Close()
			if token != test.want {
				t.Errorf("the request after %v has the token %q, want %q", test.at, token, test.want)
			}
			write("new")
		}
	})
}

// client-go counts only calls that return.
func TestAHandlerThatPanicsInTheFirstListNeverSyncsWithClientGo(t *testing.T) {
	for _, impl := range implementations {
		t.Run(impl.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := fakeapi.New(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
				informer := impl.new(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
				registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
					panic("ouch")
				}})
				must.NoError(t, err)
				go informer.RunWithContext(t.Context())
				time.Sleep(time.Hour)
				if got, want := registration.HasSynced(), impl.name == ours; got != want {
					t.Errorf("after an hour, HasSynced() of the handler = %t, want %t", got, want)
				}
				if !informer.HasSynced() {
					t.Error("after an hour, HasSynced() of the informer = false, want true")
				}
			})
		})
	}
}

// The server answers 429 for five seconds, and then with an empty list.
func TestTheRESTClientWaitsOutA429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		server := fault.RoundTripper(func(request *http.Request) (*http.Response, error) {
			if time.Since(start) < 5*time.Second {
				return fault.Refuse(apierrors.NewTooManyRequests("made up", 1))(request, nil)
			}
			return fault.Respond(request, http.StatusOK, strings.NewReader(`{"kind":"PodList","apiVersion":"v1"}`)), nil
		})
		client, err := kubernetes.NewForConfigAndClient(&rest.Config{QPS: -1}, &http.Client{Transport: server})
		must.NoError(t, err)
		_, err = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		must.NoError(t, err)
		if took, want := time.Since(start).Round(time.Millisecond), 5*time.Second; took != want {
			t.Errorf("List() took %v, want %v", took, want)
		}
	})
}

// If a watch ends in its first second without an event, the reflector lists again.
func TestAVeryShortWatchIsNotResumed(t *testing.T) {
	for _, impl := range implementations {
		for after, want := range map[time.Duration]int{time.Second / 2: 2, 2 * time.Second: 1} {
			t.Run(impl.name+" "+after.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := fakeapi.New()
					go impl.new(server, &corev1.ConfigMap{},
						cache.SharedIndexInformerOptions{}).RunWithContext(t.Context())
					w := server.NextWatch()
					time.Sleep(after)
					w.Stop()
					server.NextWatch()
					if got := server.Lists(); got != want {
						t.Errorf("the server got %d LISTs, want %d", got, want)
					}
				})
			})
		}
	}
}
