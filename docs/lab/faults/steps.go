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

func each(do func(*instance)) step {
	return func(_ context.Context, s *scenario) error {
		for _, in := range s.instances {
			do(in)
		}
		return nil
	}
}

// reset resets all connections.
var reset = each(func(in *instance) { in.tcp.Reset() })

// until waits for something to be true of every instance.
func until(what string, condition func(*instance) bool) step {
	return func(ctx context.Context, s *scenario) error {
		return s.until(ctx, what, func() bool { return every(slices.Values(s.instances), condition) })
	}
}

// hold lets a fault last as long as most do.
var hold = holdTimes(1)

// holdTimes lets a fault last so many times as long as most do.
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
		return s.until(ctx, "enough changes are made", func() bool { return s.load.confirmed.Load() >= enough })
	}
}

// missChanges waits for changes after a connection or a watch has broken: an
// informer can lose these.
var missChanges = waitForChanges(50)

// waitForFailure waits until a change has failed: the fault hits the workload, too.
func waitForFailure(ctx context.Context, s *scenario) error {
	return s.until(ctx, "a change fails", func() bool { return s.load.failed.Load() > s.failures })
}

// rewatched tells whether an instance had to request both of its watches again.
func rewatched(in *instance) bool {
	return every(slices.Values(resources), func(resource string) bool {
		return in.http.Requests(resource, "", requests.Watch, requests.WatchList) >= 2
	})
}

// saw tells whether a request of an instance had an outcome.
func saw(outcome string) func(*instance) bool {
	return func(in *instance) bool { return in.http.Requests("", outcome) > 0 }
}

// waitForOutcome waits until every instance saw an outcome.
func waitForOutcome(outcome string) step { return until("all instances saw "+outcome, saw(outcome)) }

// onServer does something to the control plane.
func onServer(do func(*environment, context.Context) error) step {
	return func(ctx context.Context, s *scenario) error { return do(s.env, ctx) }
}

func kubectl(command string) step {
	return func(ctx context.Context, s *scenario) error {
		_, err := s.env.kubectl(ctx, command)
		return err
	}
}

// refused waits until the server refuses the informers' account.
func refused(as func(error) bool) step {
	return func(ctx context.Context, s *scenario) error { return s.env.untilAnswer(ctx, as) }
}

// kill ends a component with SIGKILL.
func kill(component string) step {
	return func(_ context.Context, s *scenario) error { return s.env.Kill(component) }
}

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
		until("both watches are open", func(in *instance) bool { return in.http.Watches() == 2 }),
		each(func(in *instance) { in.http.Inject(fault) }),
		until("every watch has sent the fault", func(in *instance) bool { return in.http.Pending() == 0 }),
	}.take
}

// refuse breaks the connections, and refuses every request for a while.
func refuse(status *apierrors.StatusError) steps {
	code := strconv.Itoa(int(status.ErrStatus.Code))
	return steps{rule(httpfault.Refuse(status)), reset, hold, waitForOutcome(code), rule(httpfault.Pass)}
}

// rule lets a rule answer the requests of every instance.
func rule(r httpfault.Rule) step { return each(func(in *instance) { in.http.SetRule(r) }) }

// slowLists makes every instance list again, and delays all these lists.
func slowLists(ctx context.Context, s *scenario) error {
	delay, end := context.WithCancel(ctx)
	defer end()
	var delayed atomic.Int32
	return steps{
		rule(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
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
		until("all lists are delayed", func(*instance) bool { return int(delayed.Load()) >= 2*len(s.instances) }),
		holdTimes(6),
		rule(httpfault.Pass),
	}.take(ctx, s)
}

// expiredPages is a rule: it refuses a watch with the initial list, makes plain lists come in pages,
// and answers 410 to the request for the second page, once for each resource.
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

// fill creates ConfigMaps in a namespace, a part of as many as are deleted in one call.
func fill(namespace string, part int) step {
	return func(ctx context.Context, s *scenario) error {
		creating, ctx := errgroup.WithContext(ctx)
		creating.SetLimit(16)
		for i := range s.scale.deletes / part {
			creating.Go(func() error {
				one := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-of-many-%d", i)}}
				_, err := s.env.client.CoreV1().ConfigMaps(namespace).Create(ctx, one, metav1.CreateOptions{})
				return err
			})
		}
		return creating.Wait()
	}
}

// writeLargeObject creates an object of the greatest possible size, updates it
// twice, and resets the connections each time.
func writeLargeObject(ctx context.Context, s *scenario) error {
	for _, digit := range []string{"0", "1", "2"} {
		object := applycorev1.ConfigMap("large", large).
			WithData(map[string]string{"data": strings.Repeat(digit, 1<<20)})
		options := metav1.ApplyOptions{FieldManager: "faults"}
		if _, err := s.env.client.CoreV1().ConfigMaps(large).Apply(ctx, object, options); err != nil {
			return err
		}
		if err := reset(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// skewClock moves the clock of the writers forward and back.
func skewClock(ctx context.Context, s *scenario) error {
	for _, by := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
		s.load.skew.Add(int64(by))
		if err := holdTimes(1./3)(ctx, s); err != nil {
			return err
		}
		defer s.load.skew.Add(-int64(by))
	}
	return nil
}
