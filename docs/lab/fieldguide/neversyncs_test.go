// An informer whose HasSynced stays false.

package fieldguide

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// wantUnsynced waits for a line in the log. By then, the informer must not have synced.
func (o *klogOutput) wantUnsynced(t *testing.T, informer cache.SharedIndexInformer, line string) {
	t.Helper()
	o.want(t, line)
	if informer.HasSynced() {
		t.Error("HasSynced() = true, want false")
	}
}

func TestRightsAreMissing(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	account := s.Namespace + ":default"
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + account}
	informer := runConfigMaps(t, config, s.Namespace)
	log.wantUnsynced(t, informer, failedToWatch+
		`failed to list *v1.ConfigMap: configmaps is forbidden: User … cannot list resource …`)
	sessiontest.Kubectl(t, s, "create role reader --verb=list --resource=configmaps")
	sessiontest.Kubectl(t, s, "create rolebinding reader --role=reader --serviceaccount="+account)
	log.want(t, failedToWatch+`configmaps is forbidden: User … cannot watch resource …`)
	must.Until(t, "the informer has synced", informer.HasSynced)
}

func TestATypeThatCannotBeListed(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	list := cache.NewListWatchFromClient(s.Client.AuthorizationV1().RESTClient(), "subjectaccessreviews", "",
		fields.Everything())
	log.wantUnsynced(t, runInformer(t, list, &authorizationv1.SubjectAccessReview{}), failedToWatch+
		`failed to list *v1.SubjectAccessReview: the server does not allow this method on the requested resource" …`)
}

// The informer has a list, and never an event. Each watch that fails leads to another list.
func TestATypeThatCannotBeWatched(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	var lists atomic.Int32
	statuses := listWatch(s.Client, "componentstatuses", "", func(options *metav1.ListOptions) {
		if !options.Watch {
			lists.Add(1)
		}
	})
	informer := runInformer(t, statuses, &corev1.ComponentStatus{})
	log.want(t, failedToWatch+`watch is not supported on resources of kind \"componentstatuses\"" …`)
	must.Until(t, "the informer has synced", informer.HasSynced)
	must.Until(t, "the informer lists again", func() bool { return lists.Load() > 2 })
}

func TestTheTypeIsNotServed(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	informer := runParcels(t, s, "v1", nil)
	log.wantUnsynced(t, informer, failedToWatch+
		`failed to list …, Resource=parcels: the server could not find the requested resource" …`)
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	must.Until(t, "the informer has synced", informer.HasSynced)
}

func TestAFieldThatIsNoSelector(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	change := func(options *metav1.ListOptions) { options.FieldSelector = "spec.priority=1" }
	pods := runInformer(t, listWatch(s.Client, "pods", s.Namespace, change), &corev1.Pod{})
	log.wantUnsynced(t, pods, failedToWatch+`failed to list *v1.Pod: field label not supported: spec.priority" …`)
	configMaps := runInformer(t, listWatch(s.Client, "configmaps", s.Namespace, change), &corev1.ConfigMap{})
	log.wantUnsynced(t, configMaps, failedToWatch+
		`failed to list *v1.ConfigMap: \"spec.priority\" is not a known field selector: only …`)
}

func TestTheTypeIsWrong(t *testing.T) {
	log, s := captureKlog(t, 0), sessiontest.Open(t)
	configMaps := listWatch(s.Client, "configmaps", s.Namespace, func(*metav1.ListOptions) {})
	log.wantUnsynced(t, runInformer(t, configMaps, &corev1.Pod{}),
		`E… reflector.go:…] "Unexpected watch event object type" … expectedType="*v1.Pod" actualType="*v1.ConfigMap"`)
}

// In Go, the field data is a map. The server sends a string in one object, and nothing wrong in another.
func TestAnObjectThatCannotBeDecoded(t *testing.T) {
	log := captureKlog(t, 4)
	synctest.Test(t, func(t *testing.T) {
		const good = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"good"}}`
		const bad = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"bad"},"data":"text"}`
		server := fault.RoundTripper(func(request *http.Request) (*http.Response, error) {
			body := `{"kind":"ConfigMapList","apiVersion":"v1","items":[` + good + `,` + bad + `]}`
			if request.URL.Query().Get("watch") != "" {
				body = `{"type":"ADDED","object":` + good + `}{"type":"ADDED","object":` + bad + `}`
			}
			return fault.Respond(request, http.StatusOK, strings.NewReader(body)), nil
		})
		informer := runConfigMaps(t, &rest.Config{Transport: server}, "ns")
		log.want(t, `I… reflector.go:…] "Data couldn't be fetched in watchlist mode. `+
			`Falling back to regular list. …" err="…unable to decode an event from the watch stream: …`)
		log.wantUnsynced(t, informer, failedToWatch+
			`failed to list *v1.ConfigMap: json: cannot unmarshal string into Go struct field …`)
		if keys := informer.GetStore().ListKeys(); len(keys) != 0 {
			t.Errorf("the store has the keys %q, want none", keys)
		}
	})
}

func TestTheServerRefusesConnections(t *testing.T) {
	refuse := fault.RoundTripper(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED })
	for _, verbosity := range []int{1, 2} {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			informer := runConfigMaps(t, &rest.Config{Transport: refuse}, "ns")
			time.Sleep(time.Minute)
			if verbosity == 2 {
				log.wantUnsynced(t, informer,
					`I… reflector.go:…] "watch-list failed - backing off" … err="…: connection refused"`)
			} else {
				log.wantEmpty(t)
			}
		})
	}
}

// The client repeats the request ten times, and calls this a Retry-After. The informer tries again
// forever.
func TestTheServerDoesNotAnswer(t *testing.T) {
	silent := fault.RoundTripper(func(*http.Request) (*http.Response, error) {
		time.Sleep(30 * time.Second)
		return nil, os.ErrDeadlineExceeded // i/o timeout
	})
	for _, verbosity := range []int{1, 3, 4} {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			informer := runConfigMaps(t, &rest.Config{Transport: silent}, "ns")
			time.Sleep(3 * time.Hour)
			switch verbosity {
			case 1:
				log.wantEmpty(t)
			case 3:
				log.wantNo(t, "Retry-After")
			case 4:
				log.wantUnsynced(t, informer,
					`I… with_retry.go:…] "Got a Retry-After response" delay="1s" attempt=1 url="…"`)
			}
		})
	}
}

func TestAListThatTakesLong(t *testing.T) {
	for _, test := range []struct {
		verbosity int
		takes     time.Duration
		logged    bool
	}{
		{2, 11 * time.Second, true}, {1, 11 * time.Second, false}, {2, 9 * time.Second, false},
	} {
		log := captureKlog(t, test.verbosity)
		synctest.Test(t, func(t *testing.T) {
			server := fakeapi.New()
			server.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				time.Sleep(test.takes)
				return nil, apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
			}
			informer := runInformer(t, server, &corev1.Namespace{})
			time.Sleep(test.takes + time.Second/2) // less than the pause before the second list
			if test.logged {
				log.wantUnsynced(t, informer,
					`I… trace.go:…] Trace[…]: "Reflector ListAndWatch" name:… (…) (total time: …ms):`)
			} else {
				log.wantNo(t, "Trace")
			}
		})
	}
}

// The fake watch sends no bookmark at the end of the initial list.
func TestTheEndOfTheInitialListIsMissing(t *testing.T) {
	log := captureKlog(t, 0)
	synctest.Test(t, func(t *testing.T) {
		informer := runInformer(t, &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.ConfigMapList{}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return watch.NewFake(), nil
			},
		}, &corev1.ConfigMap{})
		time.Sleep(24 * time.Hour)
		log.wantUnsynced(t, informer, `I… reflector.go:…] "Warning: event bookmark expired" `+
			`err="…: awaiting required bookmark event for initial events stream, no events received for 10s"`)
	})
}

// A plainLists is a client that says that it cannot stream.
type plainLists struct{ kubernetes.Interface }

// IsWatchListSemanticsUnSupported is the method that client-go looks for.
func (plainLists) IsWatchListSemanticsUnSupported() bool { return true }

// A fake sends no bookmark. So an informer of a fake syncs only if somebody says that it cannot stream:
// the client of a factory, or the ListWatch.
func TestWhoSaysThatAFakeCannotStream(t *testing.T) {
	ofFactory := func(client kubernetes.Interface) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	}
	listWatch := func(client kubernetes.Interface) *cache.ListWatch { // as an informer-gen before 0.35 made it
		return &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return client.CoreV1().Pods("").List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return client.CoreV1().Pods("").Watch(ctx, options)
			},
		}
	}
	ofListWatch := func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	}
	for name, test := range map[string]struct {
		informer func(fake kubernetes.Interface) cache.SharedIndexInformer
		synced   bool
	}{
		"a factory": {ofFactory, true},
		"a factory whose client has lost the method": {func(fake kubernetes.Interface) cache.SharedIndexInformer {
			return ofFactory(struct{ kubernetes.Interface }{fake})
		}, false},
		"a factory whose client has a method of its own": {func(fake kubernetes.Interface) cache.SharedIndexInformer {
			return ofFactory(plainLists{fake})
		}, true},
		"a ListWatch": {func(fake kubernetes.Interface) cache.SharedIndexInformer {
			return ofListWatch(listWatch(fake))
		}, false},
		"a ListWatch that is wrapped": {func(fake kubernetes.Interface) cache.SharedIndexInformer {
			return ofListWatch(cache.ToListWatcherWithWatchListSemantics(listWatch(fake), fake))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			log := captureKlog(t, 2)
			synctest.Test(t, func(t *testing.T) {
				informer := test.informer(fake.NewClientset())
				must.Run(t, informer.RunWithContext)
				time.Sleep(time.Hour)
				if got := informer.HasSynced(); got != test.synced {
					t.Errorf("HasSynced() = %t after an hour, want %t", got, test.synced)
				}
				if test.synced {
					log.want(t, `I… reflector.go:…] "The client used to build this informer/reflector doesn't support `+
						`WatchList semantics. …`)
				}
			})
		})
	}
}

func TestNobodyHasStartedTheInformer(t *testing.T) {
	log := captureKlog(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		factory.Start(ctx.Done())
		pods := factory.Core().V1().Pods().Informer() // too late
		if synced := factory.WaitForCacheSync(ctx.Done()); len(synced) > 0 || ctx.Err() != nil {
			t.Errorf("WaitForCacheSync() of the factory = %v, %v; want no types, without waiting", synced, ctx.Err())
		}
		log.wantEmpty(t)
		if cache.WaitForNamedCacheSync("mine", ctx.Done(), pods.HasSynced) {
			t.Error("WaitForNamedCacheSync() = true, want false")
		}
		if ctx.Err() == nil {
			t.Error("WaitForNamedCacheSync() has returned before the end of the context")
		}
		if cache.WaitFor(ctx, "caches", pods.HasSyncedChecker()) {
			t.Error("WaitFor() = true, want false")
		}
		log.want(t, `I… shared_informer.go:…] "Waiting for caches to sync" controller="mine"`)
		log.want(t, `E… shared_informer.go:…] "Unable to sync caches" … controller="mine"`)
		log.want(t, `I… "Timed out waiting" for="caches" cause="context deadline exceeded" `+
			`instances=["SharedIndexInformer *v1.Pod"]`)
	})
}

func TestOneTypeHasSyncedAndAnotherHasNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fakeapi.New()
		slow.ListWithContextFunc = func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		other := runInformer(t, slow, &corev1.ConfigMap{})
		informer := runInformer(t, fakeapi.New(), &corev1.Secret{})
		synctest.Wait()
		if keys := other.GetStore().ListKeys(); !informer.HasSynced() || other.HasSynced() || len(keys) > 0 {
			t.Errorf("HasSynced() = %t, and of another type %t with the keys %q; want true, false, and no keys",
				informer.HasSynced(), other.HasSynced(), keys)
		}
	})
}

func TestNumbersOfAnElection(t *testing.T) {
	for _, test := range []struct {
		lease, renew, retry time.Duration
		want                string
	}{
		{10 * time.Second, 10 * time.Second, 2 * time.Second, "leaseDuration must be greater than renewDeadline"},
		{15 * time.Second, 12 * time.Second, 10 * time.Second,
			"renewDeadline must be greater than retryPeriod*JitterFactor"},
	} {
		_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			LeaseDuration: test.lease, RenewDeadline: test.renew, RetryPeriod: test.retry,
		})
		if err == nil || err.Error() != test.want {
			t.Errorf("NewLeaderElector() with %s, %s, %s: %v, want %s",
				test.lease, test.renew, test.retry, err, test.want)
		}
	}
}
