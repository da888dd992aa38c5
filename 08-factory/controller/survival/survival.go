// Package survival tests a controller: any function like notices.Run, of any custom resource whose
// children are ConfigMaps.
package survival

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// A Controller describes the controller to test, and the object for which the test runs it.
type Controller struct {
	Run func(ctx context.Context, config *rest.Config, namespace string, newInformer NewInformer) error

	// Files has the two files below in its folder testdata.
	Files fs.FS

	Definition string // the file of the CustomResourceDefinition
	Object     string // the file of one object of that resource
	Resource   string // the name of the object for kubectl, such as notice/picnic

	// Children are the ConfigMaps that the object wants, by their names, with the data that each of
	// them must have at least.
	Children map[string]map[string]string

	// Change is a merge patch of the object. Afterwards the object wants the children in Changed.
	Change  string
	Changed map[string]map[string]string
}

// NewInformer makes an informer.
type NewInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// Test runs the controller, and puts it into the situations that happen in practice. After each of
// them, it waits until all children are as the object wants them.
func Test(t *testing.T, c Controller, newInformer NewInformer) {
	r := newRunner(t, c, newInformer)
	r.kubectl(t, "apply", "--server-side", "-f", c.Definition)
	r.createForeign(t, r.first)
	stop := r.start(t)
	r.kubectl(t, "create", "-f", c.Object)

	r.testNameTaken(t)
	r.testRepair(t)
	r.testFailedWrites(t)
	r.testConflicts(t)
	r.testCutConnections(t)

	stop()
	r.deleteChild(t, r.last)
	r.changeChild(t, r.first)
	stop = r.start(t)
	r.wait(t, "it corrects what has happened while it did not run", r.complete)

	r.testOtherWriter(t)
	r.testChange(t)
	r.testDelete(t)
	stop()
}

// testNameTaken begins with a ConfigMap of somebody else that has the name of the first child.
func (r *runner) testNameTaken(t *testing.T) {
	r.wait(t, "it makes all children except the one whose name is taken", func(found children) error {
		if found[r.first] != nil {
			return fmt.Errorf("it has taken the ConfigMap %s from its owner", r.first)
		}
		others := maps.Clone(r.want)
		delete(others, r.first)
		return compare(found, others)
	})
	r.deleteChild(t, r.first)
	r.wait(t, "it makes the child whose name is free again", r.complete)
	r.waitForStatus(t)
}

func (r *runner) testRepair(t *testing.T) {
	r.deleteChild(t, r.last)
	r.wait(t, "it makes a child again that somebody has deleted", r.complete)
	r.changeChild(t, r.first)
	r.wait(t, "it corrects a child that somebody has changed", r.complete)
}

func (r *runner) testFailedWrites(t *testing.T) {
	r.failures.Store(2)
	r.deleteChild(t, r.last)
	r.wait(t, "it tries a write again that has failed twice", r.complete)
	if left := r.failures.Load(); left > 0 {
		t.Errorf("%d writes were still to fail, want 0: it has made too few writes", left)
	}
}

// testConflicts lets two updates end with a conflict: that of the child and that of the status.
// Therefore no event of a write adds the key again.
func (r *runner) testConflicts(t *testing.T) {
	r.conflicts.Store(2)
	r.changeChild(t, r.first)
	r.wait(t, "it tries an update again after a conflict, even if no event comes", r.complete)
	if left := r.conflicts.Load(); left > 0 {
		t.Errorf("%d updates were still to end with a conflict, want 0: it has made too few updates", left)
	}
}

func (r *runner) testCutConnections(t *testing.T) {
	r.proxy.Cut()
	r.deleteChild(t, r.last)
	r.changeChild(t, r.first)
	r.proxy.Restore()
	r.wait(t, "it corrects what has happened while its connections were cut", r.complete)
}

// testOtherWriter has somebody else write to a child all the time.
func (r *runner) testOtherWriter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.keepWriting(ctx, r.first) }()
	r.changeChild(t, r.first)
	r.wait(t, "it corrects a child that somebody else writes to all the time", r.complete)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the other writer ended with %v, want %v", err, context.Canceled)
	}
}

func (r *runner) testChange(t *testing.T) {
	r.kubectl(t, "patch", r.Resource, "--type=merge", "--patch", r.Change)
	r.want = r.Changed
	r.wait(t, "it follows a change of the object", r.complete)
	r.waitForStatus(t)
}

func (r *runner) testDelete(t *testing.T) {
	r.kubectl(t, "delete", r.Resource)
	r.want = nil
	r.wait(t, "it removes the children of a deleted object", r.complete)
	r.kubectl(t, "wait", r.Resource, "--for=delete")
}
