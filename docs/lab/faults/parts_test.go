// What the rows of the table call.

package faults

import (
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

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
)

// kill ends a component with SIGKILL.
func (s *scenario) kill(component string) { must.NoError(s, s.env.Kill(component)) }

// restart starts a component that was killed.
func (s *scenario) restart(component string) { must.NoError(s, s.env.Restart(s.Context(), component)) }

// signal sends a signal to components.
func (s *scenario) signal(sent syscall.Signal, components ...string) {
	for _, component := range components {
		must.NoError(s, s.env.Signal(component, sent))
	}
}

// hold lets a fault last n times as long as most do.
func (s *scenario) hold(n float64) {
	s.changeHandlers()
	time.Sleep(time.Duration(n * float64(s.scale.hold)))
}

// changeHandlers adds handlers and removes others. Only the first call in a scenario does so. Most
// faults call it while they last.
func (s *scenario) changeHandlers() {
	if s.handlersChanged {
		return
	}
	s.handlersChanged = true
	s.eachInformer(func(i *testInformer) {
		must.NoError(s, i.add(addedDuring))
		must.NoError(s, i.remove(removedDuring))
	})
}

// reset resets all connections.
func (s *scenario) reset() {
	for _, in := range s.instances {
		in.proxy.Reset()
	}
}

// missChanges waits for changes after a connection or a watch has broken. An informer could miss
// these changes.
func (s *scenario) missChanges() { s.waitForChanges(50) }

// waitForChanges waits until n more changes were confirmed.
func (s *scenario) waitForChanges(n int64) {
	enough := s.load.confirmed.Load() + n
	s.until("enough changes are made", func() bool { return s.load.confirmed.Load() >= enough })
}

// waitForFailure waits until a change has failed, because the fault hits the workload, too.
func (s *scenario) waitForFailure() {
	s.until("a change fails", func() bool { return s.load.failed.Load() > s.failures })
}

// waitForStatus waits until every instance has got this status n times.
func (s *scenario) waitForStatus(status, n int) {
	s.until(fmt.Sprintf("all instances have got the status %d", status), func() bool {
		return s.every(func(in *instance) bool {
			return in.requests.Count(func(sent *fault.Request) bool { return sent.Status == status }) >= n
		})
	})
}

// rewatched reports whether an instance has requested both of its watches again.
func rewatched(in *instance) bool {
	return !slices.ContainsFunc(resources, func(resource string) bool {
		return in.requests.Count(func(sent *fault.Request) bool {
			return sent.Resource == resource && sent.Verb.Watches()
		}) < 2
	})
}

// gotExpired reports whether a watch of an instance has got 410.
func gotExpired(in *instance) bool { return in.frames.Errors(http.StatusGone) > 0 }

// changeFrames injects a fault into all watches while changes are made.
func (s *scenario) changeFrames(f fault.FrameFault) {
	s.changeHandlers()
	s.inject(f)
	s.missChanges()
}

// inject injects a fault into all watches, and returns when each has sent it.
func (s *scenario) inject(f fault.FrameFault) {
	s.until("both watches are open", func() bool {
		return s.every(func(in *instance) bool { return in.frames.Watches() == len(resources) })
	})
	for _, in := range s.instances {
		in.frames.Inject(f)
	}
	s.until("every watch has sent the fault", func() bool {
		return s.every(func(in *instance) bool { return in.frames.Pending() == 0 })
	})
}

// refuseRequests breaks the connections, and answers every request with an error for a while.
func (s *scenario) refuseRequests(status *apierrors.StatusError) {
	defer s.addRules(fault.Rule{Answer: fault.Refuse(status)})()
	s.reset()
	s.hold(1)
	s.waitForStatus(int(status.ErrStatus.Code), 1)
}

// addRules adds rules for the requests of every instance. remove removes them.
func (s *scenario) addRules(rules ...fault.Rule) (remove func()) {
	var removes []func() int
	for _, in := range s.instances {
		for _, rule := range rules {
			removes = append(removes, in.requests.Add(rule))
		}
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// expiredPages returns rules that refuse streamed lists, so that the informer sends a LIST. They make
// the answer to a LIST come in pages, and answer 410 to the request for the second page, once for
// each resource.
func expiredPages() []fault.Rule {
	rules := []fault.Rule{
		{
			Matches: func(sent *fault.Request) bool { return sent.Verb == fault.WatchList },
			Answer:  fault.Refuse(apierrors.NewInvalid(schema.GroupKind{}, "", nil)),
		},
		{
			Matches: func(sent *fault.Request) bool { return sent.Verb == fault.NextPage },
			Answer:  fault.Refuse(apierrors.NewResourceExpired("made up")),
		},
	}
	for _, resource := range resources {
		rules = append(rules, fault.Rule{
			Times:   1,
			Matches: func(sent *fault.Request) bool { return sent.Verb == fault.List && sent.Resource == resource },
			Answer:  inPages,
		})
	}
	return rules
}

// inPages lets the server answer a LIST in pages.
func inPages(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	request = request.Clone(request.Context())
	query := request.URL.Query()
	query.Set("limit", "10")
	query.Del("resourceVersion")
	query.Del("resourceVersionMatch")
	request.URL.RawQuery = query.Encode()
	return next.RoundTrip(request)
}

// fill creates n ConfigMaps in a namespace.
func (s *scenario) fill(namespace string, n int) {
	creating, ctx := errgroup.WithContext(s.Context())
	creating.SetLimit(16)
	for i := range n {
		creating.Go(func() error {
			configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("one-of-many-%d", i)}}
			_, err := s.env.client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap, metav1.CreateOptions{})
			return err
		})
	}
	must.NoError(s, creating.Wait())
}

// applyLargeObject creates or updates an object of the greatest possible size, which consists of one
// digit.
func (s *scenario) applyLargeObject(digit string) {
	object := applycorev1.ConfigMap("large", largeNamespace).
		WithData(map[string]string{"data": strings.Repeat(digit, 1<<20)})
	_, err := s.env.client.CoreV1().ConfigMaps(largeNamespace).Apply(s.Context(), object,
		metav1.ApplyOptions{FieldManager: "faults"})
	must.NoError(s, err)
}
