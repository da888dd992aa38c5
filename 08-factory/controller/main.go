// From informer to controller, the second program of the chapter. You build controllers on the
// factory: a queue of keys, retries, leader election. Package notices is one that you can copy. The
// folder kubernetes, a module of its own, runs the controllers of Kubernetes on the factory.
//
// Its first page is docs/08-controllers.md.
package main

import (
	"embed"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/informer/scripts/harness/step"
)

//go:embed testdata
var files embed.FS

var chapter = step.Chapter{
	Name:  "08-factory/controller",
	Title: "from informer to controller",
	Files: files,
	Flags: addFlags,
	Steps: []step.Step{
		{Name: "queue", Title: "keys, not events", Run: stepQueue, Offline: true},
		{Name: "retry", Title: "a key that fails comes back later, and later still", Run: stepRetry, Offline: true},
		{Name: "controller", Title: "the smallest controller", Run: stepController},
		{Name: "reconcile", Title: "a complete small controller", Run: stepReconcile},
		{Name: "selector", Title: "a pod changes, and which Services does it concern?", Run: stepSelector},
		{
			Name: "leader", Title: "two replicas, and one of them works", Run: stepLeader,
			Speakers: []string{"first", "second", "late"},
			Patience: time.Minute, // a replica waits 15 s until a Lease has expired
		},
		{Name: "manager", Title: "the same reconciler, in a manager of controller-runtime", Run: stepManager},
		{Name: "ownwrites", Title: "a cache that does not know your own write", Run: stepOwnwrites},
		{Name: "names", Title: "a name that does not depend on chance", Run: stepNames},
		{Name: "expectations", Title: "do nothing until the event has come", Run: stepExpectations},
		{Name: "version", Title: "wait for the version of your own write", Run: stepVersion},
		{
			Name: "rights", Title: "list and watch, given and taken away", Run: stepRights, Fold: true,
			Patience: 90 * time.Second, // the reflector's pauses grow up to 30 s
		},
		{Name: "metrics", Title: "see it before it hurts", Run: stepMetrics},
		{Name: "fakes", Title: "an event that a fake clientset loses", Run: stepFakes},
	},
}

func main() {
	log.SetLogger(logr.Discard()) // controller-runtime prints a warning if nobody sets its logger
	step.Main(chapter)
}
