// The steps that faults are made of.

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/requests"
)

// eachInstance calls a function for every instance.
func eachInstance(do func(*instance)) step {
	return func(_ context.Context, s *scenario) error {
		for _, in := range s.instances {
			do(in)
		}
		return nil
	}
}

// reset resets all connections.
var reset = eachInstance(func(in *instance) { in.tcp.Reset() })

// waitUntil waits until a condition is true for every instance.
func waitUntil(description string, condition func(*instance) bool) step {
	return func(ctx context.Context, s *scenario) error {
		return s.waitUntil(ctx, description, func() bool { return allMatch(slices.Values(s.instances), condition) })
	}
}

// hold lets a fault last as long as most do.
var hold = holdTimes(1)

// holdTimes lets a fault last n times as long as most do.
func holdTimes(n float64) step {
	return func(ctx context.Context, s *scenario) error {
		end, cancel := context.WithTimeout(ctx, time.Duration(n*float64(s.scale.hold)))
		defer cancel()
		if err := changeHandlers(ctx, s); err != nil {
			return err
		}
		<-end.Done()
		return context.Cause(ctx)
	}
}

// waitForChanges waits until n more changes were confirmed.
func waitForChanges(n int64) step {
	return func(ctx context.Context, s *scenario) error {
		enough := s.load.confirmed.Load() + n
		return s.waitUntil(ctx, "enough changes are made", func() bool { return s.load.confirmed.Load() >= enough })
	}
}

// missChanges waits for changes after a connection or a watch has broken. An informer could miss
// these changes.
var missChanges = waitForChanges(50)

// waitForFailure waits until a change has failed, because the fault hits the workload, too.
func waitForFailure(ctx context.Context, s *scenario) error {
	return s.waitUntil(ctx, "a change fails", func() bool { return s.load.failed.Load() > s.failures })
}

// rewatched says whether an instance has requested both of its watches again.
func rewatched(in *instance) bool {
	return allMatch(slices.Values(resources), func(resource string) bool {
		return in.http.Requests(resource, "", requests.Watch, requests.WatchList) >= 2
	})
}

// sawOutcome says whether a request of an instance had this outcome.
func sawOutcome(outcome string) func(*instance) bool {
	return func(in *instance) bool { return in.http.Requests("", outcome) > 0 }
}

// waitForOutcome waits until every instance has had a request with this outcome.
func waitForOutcome(outcome string) step {
	return waitUntil("all instances saw "+outcome, sawOutcome(outcome))
}

// onServer calls a method of the environment.
func onServer(do func(*environment, context.Context) error) step {
	return func(ctx context.Context, s *scenario) error { return do(s.env, ctx) }
}

// kubectl runs a command as the administrator.
func kubectl(command string) step {
	return func(ctx context.Context, s *scenario) error {
		_, err := s.env.kubectl(ctx, command)
		return err
	}
}

// refused waits until the server refuses the informers' account with such an error.
func refused(expected func(error) bool) step {
	return func(ctx context.Context, s *scenario) error { return s.env.waitForAnswer(ctx, expected) }
}

// kill ends a component with SIGKILL.
func kill(component string) step {
	return func(_ context.Context, s *scenario) error { return s.env.Kill(component) }
}

// restart starts a component that was killed.
func restart(component string) step {
	return func(ctx context.Context, s *scenario) error { return s.env.Restart(ctx, component) }
}

// signalServers sends a signal to etcd and the API server.
func signalServers(sent syscall.Signal) step {
	return func(_ context.Context, s *scenario) error {
		return errors.Join(s.env.Signal(local.APIServer, sent), s.env.Signal(local.Etcd, sent))
	}
}

// inFrames injects a fault into all watches while changes are made.
func inFrames(fault httpfault.FrameFault) steps {
	return steps{changeHandlers, inject(fault), missChanges}
}

// inject injects a fault into all watches, and returns when each has sent it.
func inject(fault httpfault.FrameFault) step {
	return steps{
		waitUntil("both watches are open", func(in *instance) bool { return in.http.Watches() == 2 }),
		eachInstance(func(in *instance) { in.http.Inject(fault) }),
		waitUntil("every watch has sent the fault", func(in *instance) bool { return in.http.Pending() == 0 }),
	}.run
}

// refuse breaks the connections, and answers every request with an error for a while.
func refuse(status *apierrors.StatusError) steps {
	code := strconv.Itoa(int(status.ErrStatus.Code))
	return steps{setRule(httpfault.Refuse(status)), reset, hold, waitForOutcome(code), setRule(httpfault.Pass)}
}

// setRule sets the rule for the requests of every instance.
func setRule(r httpfault.Rule) step { return eachInstance(func(in *instance) { in.http.SetRule(r) }) }

// slowLists makes every instance list again, and delays all these lists.
func slowLists(ctx context.Context, s *scenario) error {
	delay, end := context.WithCancel(ctx)
	defer end()
	var delayed atomic.Int32
	return steps{
		setRule(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			if requests.VerbOf(request) != requests.Watch {
				delayed.Add(1)
				select {
				case <-delay.Done():
				case <-request.Context().Done():
				}
			}
			return next.RoundTrip(request)
		}),
		inject(httpfault.Expired),
		waitUntil("all lists are delayed", func(*instance) bool { return int(delayed.Load()) >= 2*len(s.instances) }),
		holdTimes(6),
		setRule(httpfault.Pass),
	}.run(ctx, s)
}

// expiredPages returns a rule that refuses streamed lists, so that the informer sends a LIST. The
// rule makes the answer to a LIST come in pages, and answers 410 to the request for the second
// page, once for each resource.
func expiredPages(in *instance) httpfault.Rule {
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		expired := in.http.Requests(path.Base(request.URL.Path), "", requests.NextPage)
		switch verb := requests.VerbOf(request); {
		case verb == requests.WatchList:
			return httpfault.Refuse(apierrors.NewInvalid(schema.GroupKind{}, "", nil))(request, next)
		case verb == requests.NextPage:
			return httpfault.Refuse(apierrors.NewResourceExpired("made up"))(request, next)
		case verb == requests.List && expired == 0:
			request = request.Clone(request.Context())
			query := request.URL.Query()
			query.Set("limit", "10")
			query.Del("resourceVersion")
			query.Del("resourceVersionMatch")
			request.URL.RawQuery = query.Encode()
		}
		return next.RoundTrip(request)
	}
}

// fill creates ConfigMaps in a namespace: scale.deletes of them, divided by the divisor.
func fill(namespace string, divisor int) step {
	return func(ctx context.Context, s *scenario) error {
		creating, ctx := errgroup.WithContext(ctx)
		creating.SetLimit(16)
		for i := range s.scale.deletes / divisor {
			creating.Go(func() error {
				configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-of-many-%d", i)}}
				_, err := s.env.client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap, metav1.CreateOptions{})
				return err
			})
		}
		return creating.Wait()
	}
}

// writeLargeObject creates an object of the greatest possible size, updates it twice, and resets
// the connections each time.
func writeLargeObject(ctx context.Context, s *scenario) error {
	for _, digit := range []string{"0", "1", "2"} {
		object := applycorev1.ConfigMap("large", largeNamespace).
			WithData(map[string]string{"data": strings.Repeat(digit, 1<<20)})
		options := metav1.ApplyOptions{FieldManager: "faults"}
		if _, err := s.env.client.CoreV1().ConfigMaps(largeNamespace).Apply(ctx, object, options); err != nil {
			return err
		}
		if err := reset(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// skewClock moves the clock of the writers forward, back, and forward again.
func skewClock(ctx context.Context, s *scenario) error {
	defer s.load.skew.Store(0)
	for _, jump := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
		s.load.skew.Add(int64(jump))
		if err := holdTimes(1./3)(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
