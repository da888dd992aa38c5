// Package survival tests a controller: it puts the controller into the situations that happen in
// practice, and judges what the controller does in them. Each judgement is a subtest.
//
// The controller is any function that runs until its context ends, with the configuration and in
// the namespace that it is given. Its objects may be of any namespaced type, and their children of
// any types. What survival asks of them:
//
//   - An object is the controller (metadata.ownerReferences) of its children.
//   - The names of the children follow from the object, and are always the same.
//   - The controller works in one namespace only, and writes JSON, as its configuration says.
//
// It does not judge: other fields of the children than those in the manifests, and fields that are
// too many, except in the maps that Exact names; work that sends no request, such as a retry that
// ends at the cache; which rights the controller needs; how many requests it reads with; several
// replicas and the election of a leader; metrics and health; how it behaves with thousands of
// objects; types that are not namespaced. A data race is found if the test runs with -race, and a
// goroutine that is left behind if it runs with goleak. A controller that panics ends the whole
// test.
//
// Five kinds of bugs pass, and need tests of their own:
//
//   - A field that becomes empty, such as a text, is not written, unless a manifest has it.
//   - A zero, such as "copies: 0", counts as not set, unless a manifest has it.
//   - Reconcile has no deadline.
//   - The worker calls queue.Done before Reconcile, so that two workers can have the same key.
//   - Each event goes through AddRateLimited, so that its key has to wait.
package survival

import (
	"context"
	"flag"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A Controller describes the controller to test, and the objects for which the test runs it.
type Controller struct {
	// Start runs the controller in a namespace until ctx ends. It returns when the controller
	// writes nothing any more.
	Start func(ctx context.Context, config *rest.Config, namespace string) error

	// Definition is the path of the file with the CustomResourceDefinition. It is empty if the API
	// server has the type already.
	Definition string

	// Manifests is the path of a folder with three files. Each of them has an object, and the
	// children that this object wants, as documents of one YAML file. A child must have at least the
	// fields of its document. If the object has a status, its fields say that all is done. While a
	// child is missing, each of them must say something else. When all is done, the field
	// observedGeneration of the status must be the generation of the object.
	//
	//	object.yaml   an object with at least two children, and with a dash in its name
	//	changed.yaml  the same object with another spec: a child less, and another one is different
	//	second.yaml   another object of this type, with the name of the first, a dash, and more
	Manifests string

	// Exact has the paths of maps in the children, such as data or spec.selector. In them, a child
	// must have the keys of its document and no others: they belong to the controller alone. In all
	// other maps, a child may have more keys, because a controller that applies only its own fields
	// is right, too, and because the API server sets defaults.
	Exact []string

	// Finalizer is the finalizer that the controller adds to its objects. It is empty if there is
	// none, and the garbage collector of Kubernetes removes the children.
	Finalizer string

	// Reason is the reason of the Event on the object for each child that the controller makes. The
	// note of the Event has the child's name. A Warning with a child's name says that the name is
	// taken. Reason is empty if the controller records no Events.
	Reason string

	// InvalidIsFinal says that the controller does not try again to make a child that the API server
	// has refused as invalid, until something changes. It is false if the controller tries again
	// after a pause, as after other errors.
	InvalidIsFinal bool

	// Patience is how long a judgement waits for what the controller must do. Default: a minute. It
	// only ends the wait for what does not come: a right controller never needs all of it.
	Patience time.Duration
}

// window is how long a judgement looks for what must not come, where no other event can show that
// it will not come. A right controller passes on a machine of any speed.
const window = time.Second

// A scenario is a number of judgements, one after the other, in a namespace of its own.
type scenario struct {
	name string
	play func(*runner)
}

var scenarios = []scenario{
	{name: "life", play: playLife},
	{name: "quiet", play: playQuiet},
	{name: "repair", play: playRepair},
	{name: "owner", play: playOwner},
	{name: "name taken", play: playNameTaken},
	{name: "bystanders", play: playBystanders},
	{name: "outage", play: playOutage},
	{name: "one child fails", play: playOneChildFails},
	{name: "refused", play: playRefused},
	{name: "connections", play: playConnections},
	{name: "restart", play: playRestart},
	{name: "end", play: playEnd},
	{name: "events", play: playEvents},
	{name: "finalizers", play: playFinalizers},
	{name: "last child", play: playLastChild},
	{name: "orphan", play: playOrphan},
	{name: "late delete", play: playLateDelete},
}

// SideBySide lets tests run side by side that package testing would run in turn: by default it runs
// as many as there are CPUs, but a scenario waits most of the time. A TestMain calls SideBySide
// before it runs the tests. If the user has set -parallel, SideBySide changes nothing.
func SideBySide() {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		_ = flag.Set("test.parallel", "12")
	}
}

// Test judges the controller. The scenarios run side by side, as many as -parallel says. In each of
// them, the first judgement that fails ends the scenario.
func Test(t *testing.T, c Controller) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(newRunner(t, c))
		})
	}
}
