// The steps that faults are made of.

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/fault"
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
var reset = eachInstance(func(in *instance) { in.proxy.Reset() })

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
		return in.requests.Count(func(sent *fault.Request) bool {
			return sent.Resource == resource && sent.Verb.Watches()
		}) >= 2
	})
}

// hasStatus matches the requests that were answered with this status.
func hasStatus(status int) func(*fault.Request) bool {
	return func(sent *fault.Request) bool { return sent.Status == status }
}

// waitForStatus waits until every instance has got this status.
func waitForStatus(status int) step {
	return waitUntil(fmt.Sprintf("all instances saw %d", status), func(in *instance) bool {
		return in.requests.Count(hasStatus(status)) > 0
	})
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
func inFrames(f fault.FrameFault) steps {
	return steps{changeHandlers, inject(f), missChanges}
}

// inject injects a fault into all watches, and returns when each has sent it.
func inject(f fault.FrameFault) step {
	return steps{
		waitUntil("both watches are open", func(in *instance) bool { return in.frames.Watches() == 2 }),
		eachInstance(func(in *instance) { in.frames.Inject(f) }),
		waitUntil("every watch has sent the fault", func(in *instance) bool { return in.frames.Pending() == 0 }),
	}.run
}

// refuse breaks the connections, and answers every request with an error for a while.
func refuse(status *apierrors.StatusError) steps {
	rules := []fault.Rule{{Answer: fault.Refuse(status)}}
	return steps{underRules(rules, reset, hold, waitForStatus(int(status.ErrStatus.Code)))}
}

// underRules makes steps while rules are for the requests of every instance.
func underRules(rules []fault.Rule, made ...step) step {
	return func(ctx context.Context, s *scenario) error {
		for _, in := range s.instances {
			for _, rule := range rules {
				defer in.requests.Add(rule)()
			}
		}
		return steps(made).run(ctx, s)
	}
}

// slowLists makes every instance list again, and delays all these lists.
func slowLists(ctx context.Context, s *scenario) error {
	held := map[*instance]*fault.Hold{}
	for _, in := range s.instances {
		held[in] = in.requests.Hold(0, func(sent *fault.Request) bool { return sent.Verb.Lists() })
		defer held[in].Release()
	}
	return steps{
		inject(fault.Expired),
		waitUntil("all lists are held", func(in *instance) bool { return held[in].Held() >= 2 }),
		holdTimes(6),
	}.run(ctx, s)
}

// expiredPages returns rules that refuse streamed lists, so that the informer sends a LIST. They make
// the answer to a LIST come in pages, and answer 410 to the request for the second page, once for
// each resource.
func expiredPages() []fault.Rule {
	return []fault.Rule{
		{
			Matches: func(sent *fault.Request) bool { return sent.Verb == fault.WatchList },
			Answer:  fault.Refuse(apierrors.NewInvalid(schema.GroupKind{}, "", nil)),
		},
		{
			Matches: func(sent *fault.Request) bool { return sent.Verb == fault.NextPage },
			Answer:  fault.Refuse(apierrors.NewResourceExpired("made up")),
		},
		firstInPages("configmaps"),
		firstInPages("pods"),
	}
}

// firstInPages returns a rule that makes the answer to the first LIST of a resource come in pages.
func firstInPages(resource string) fault.Rule {
	return fault.Rule{
		Times:   1,
		Matches: func(sent *fault.Request) bool { return sent.Verb == fault.List && sent.Resource == resource },
		Answer: func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			request = request.Clone(request.Context())
			query := request.URL.Query()
			query.Set("limit", "10")
			query.Del("resourceVersion")
			query.Del("resourceVersionMatch")
			request.URL.RawQuery = query.Encode()
			return next.RoundTrip(request)
		},
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
