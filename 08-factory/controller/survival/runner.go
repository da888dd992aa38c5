package survival

import (
	"cmp"
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

const poll = 50 * time.Millisecond

// A runner runs a controller in a namespace of its own, changes objects there, and judges.
type runner struct {
	Controller
	*session.Session // the test's own connection, which does not go through the wire

	scenario *testing.T
	t        *testing.T // of the judgement, or of the scenario if there is none
	ctx      context.Context
	dynamic  dynamic.Interface
	mapper   meta.RESTMapper
	wire     fault.Requests // of all starts of the controller
	proxy    *fault.Proxy
	now      *running // nil if the controller does not run

	object, changed, second *family
	kept                    *unstructured.Unstructured // a child of object that is different in changed
	dropped                 *unstructured.Unstructured // a child of object that changed does not want
}

func newRunner(t *testing.T, c Controller) *runner {
	t.Helper()
	c.Patience = cmp.Or(c.Patience, time.Minute)
	r := &runner{Controller: c, scenario: t, t: t, ctx: t.Context()}
	r.readManifests()
	r.Session = sessiontest.Open(t)
	var err error
	r.dynamic, err = dynamic.NewForConfig(r.Config)
	must.NoError(t, err)
	r.define()
	r.proxy, err = fault.For(r.Config)
	must.NoError(t, err)
	t.Cleanup(r.proxy.Close)
	t.Cleanup(r.removeFinalizers)
	t.Cleanup(r.endNow)
	return r
}

func (r *runner) readManifests() {
	for name, f := range map[string]**family{
		"object.yaml": &r.object, "changed.yaml": &r.changed, "second.yaml": &r.second} {
		var err error
		*f, err = readFamily(r.Manifests, name)
		must.NoError(r.t, err)
	}
	var err error
	r.kept, r.dropped, err = findRoles(r.object, r.changed)
	must.NoError(r.t, err)
	must.NoError(r.t, checkNames(r.object, r.second))
}

// define applies the definition of the objects' type, and waits until the API server serves it.
func (r *runner) define() {
	if r.Definition != "" {
		documents, err := readYAML(r.Definition)
		must.NoError(r.t, err)
		definitions := schema.GroupVersionResource{
			Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
		for _, document := range documents {
			_, err := r.dynamic.Resource(definitions).Apply(r.ctx, document.GetName(), document,
				metav1.ApplyOptions{FieldManager: "survival", Force: true})
			must.NoError(r.t, err)
		}
	}
	client, err := discovery.NewDiscoveryClientForConfig(r.Config)
	must.NoError(r.t, err)
	r.until(func() error {
		groups, err := restmapper.GetAPIGroupResources(client)
		if err != nil {
			return err
		}
		r.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		for _, manifest := range r.manifests() {
			if _, err := r.resourceOf(manifest); err != nil {
				return err
			}
		}
		_, err = r.client(r.object.object).List(r.ctx, metav1.ListOptions{})
		return err
	})
}

// judge runs a judgement as a subtest. If the controller fails it, the scenario ends.
func (r *runner) judge(name string, judgement func()) {
	passed := r.scenario.Run(name, func(t *testing.T) {
		r.t = t
		judgement()
	})
	r.t = r.scenario
	if !passed {
		r.scenario.FailNow()
	}
}

// until waits until check finds nothing wrong. It ends the judgement if that takes longer than
// Patience, or if the controller returns although its context has not ended.
func (r *runner) until(check func() error) {
	r.t.Helper()
	r.untilWithin(r.Patience, check)
}

// untilHealed is until for a failure that has lasted since a time, and is over. It waits longer: the
// pauses of a right controller double, so that it may pause for as long as it has failed.
func (r *runner) untilHealed(failing time.Time, check func() error) {
	r.t.Helper()
	r.untilWithin(r.Patience+2*time.Since(failing), check)
}

func (r *runner) untilWithin(patience time.Duration, check func() error) {
	r.t.Helper()
	var returned chan struct{}
	if r.now != nil {
		returned = r.now.returned
	}
	for deadline := time.Now().Add(patience); ; {
		wrong := check()
		if wrong == nil {
			return
		}
		select {
		case <-returned:
			r.t.Fatalf("the controller has returned %v, although its context has not ended, and %v", r.now.err, wrong)
		case <-time.After(poll):
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("not within %v: %v", patience, wrong)
		}
	}
}

// A running is one start of the controller.
type running struct {
	requests fault.Requests
	cancel   context.CancelFunc
	returned chan struct{}
	err      error // once returned is closed
}

// start starts the controller.
func (r *runner) start() {
	ctx, cancel := context.WithCancel(r.ctx)
	config := rest.CopyConfig(r.Config)
	config.Dial = r.proxy.Dial
	config.ContentType = "application/json" // the wire reads names in it; client-go would take protobuf
	started := &running{cancel: cancel, returned: make(chan struct{})}
	loseAfter(started.returned, config)
	config.Wrap(r.wire.Wrap)
	config.Wrap(started.requests.Wrap)
	r.now = started
	go func() {
		defer close(started.returned)
		started.err = r.Start(ctx, config, r.Namespace)
	}()
}

// stop ends the context of the controller, and waits until it has returned.
func (r *runner) stop() {
	r.t.Helper()
	ending := r.now
	r.now = nil
	ending.cancel()
	select {
	case <-ending.returned:
		if ending.err != nil && ending.err != context.Canceled {
			r.t.Fatalf("the controller has returned the error %v, want nil after the end of its context", ending.err)
		}
	case <-time.After(r.Patience):
		r.t.Fatalf("the controller has not returned within %v after the end of its context", r.Patience)
	}
}

// endNow ends the controller after a scenario. It judges nothing.
func (r *runner) endNow() {
	if r.now == nil {
		return
	}
	r.now.cancel()
	select {
	case <-r.now.returned:
	case <-time.After(r.Patience):
		r.scenario.Errorf("the controller has not returned within %v after the end of its context", r.Patience)
	}
}

// begin starts the controller, creates the object and the second object, and waits until all is
// done for both.
func (r *runner) begin() {
	r.t.Helper()
	r.start()
	r.create(r.object.object)
	r.create(r.second.object)
	r.untilDone(r.object)
	r.untilDone(r.second)
}

// needs skips a judgement, or a scenario, if the description has no such value.
func (r *runner) needs(what, value string) {
	if value == "" {
		r.t.Skipf("the description of the controller has no %s", what)
	}
}
