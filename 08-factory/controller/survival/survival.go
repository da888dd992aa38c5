// Package survival tests a controller: it puts the controller into the situations that happen in
// practice, and checks what the controller does in them. The table of these scenarios is in
// scenarios.go and scenarios_end.go. Each scenario is a subtest with a namespace and a start of the
// controller of its own.
//
// The controller is any function that runs until its context ends, with the configuration and in
// the namespace that it is given. Its objects may be of any namespaced type, and their children of
// any types. What survival asks of them:
//
//   - An object is the controller (metadata.ownerReferences) of its children.
//   - The names of the children follow from the object, and are always the same.
//   - The controller works in one namespace only, and writes JSON, as its configuration says.
//   - It works on two objects at the same time: some scenarios hold a write for one of them.
//   - It can run twice in a process, and in the same namespace.
//
// It does not check: fields of the children that the manifests do not have, and extra keys, except in
// the maps that Exact names; work that sends no request, such as a retry that
// ends at the cache; which rights the controller needs; how many requests it reads with; several
// replicas and the election of a leader; metrics and health; how it behaves with thousands of
// objects; types that are not namespaced. A data race is found if the test runs with -race, and a
// goroutine that is left behind if it runs with goleak. A controller that panics ends the whole
// test.
//
// Some bugs pass, and need tests of their own:
//
//   - A field that becomes empty, such as a text, is not written, unless a manifest has it.
//   - Reconcile has no deadline.
//   - Each event goes through AddRateLimited, and its key has to wait.
//   - An error that no retry can mend, such as that of an invalid child, is tried again forever.
package survival

import (
	"context"
	"flag"
	"testing"

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

	// Manifests is the path of a folder with these files. Each of them has an object, and the
	// children that this object wants, as documents of one YAML file. A child must have at least the
	// fields of its document. If the object has a status, its fields say that all is done. While a
	// child is missing, each of them must say something else. When all is done, the field
	// observedGeneration of the status must be the generation of the object.
	//
	//	object.yaml   an object with at least two children, and with a dash in its name
	//	changed.yaml  the same object with another spec: one child fewer, and one that differs
	//	none.yaml     the same object with a spec that wants no children; there may be no such file
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

// Test tests the controller in each scenario. The scenarios run side by side, as many as -parallel
// says.
func Test(t *testing.T, c Controller) {
	e := newEnvironment(t, c)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(newRunner(t, e))
		})
	}
}
