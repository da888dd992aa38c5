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
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "08-factory/controller",
	Title: "from informer to controller",
	Files: files,
	Flags: addFlags,
	Steps: []play.Step{
		{Name: "queue", Title: "keys, not events", Run: step.WithEnv(stepQueue), Offline: true},
		{
			Name: "retry", Title: "a key that fails comes back later, and later still",
			Run: step.WithEnv(stepRetry), Offline: true,
		},
		{Name: "controller", Title: "the smallest controller", Run: step.WithEnv(stepController)},
		{Name: "reconcile", Title: "a complete small controller", Run: step.WithEnv(stepReconcile)},
		{
			Name: "selector", Title: "a pod changes, and which Services does it concern?",
			Run: step.WithEnv(stepSelector),
		},
		{
			Name: "leader", Title: "two replicas, and one of them works", Run: step.WithEnv(stepLeader),
			Speakers: []string{"first", "second"},
			Patience: time.Minute, // a replica waits 15 s until a Lease has expired
		},
		{
			Name: "latewrites", Title: "the writes of a leader that has lost its Lease",
			Run: step.WithEnv(stepLatewrites), Speakers: []string{"new", "old"},
		},
		{
			Name: "manager", Title: "the same reconciler, in a manager of controller-runtime",
			Run: step.WithEnv(stepManager),
		},
		{Name: "ownwrites", Title: "a cache that does not know your own write", Run: step.WithEnv(stepOwnwrites)},
		{Name: "names", Title: "a name that does not depend on chance", Run: step.WithEnv(stepNames)},
		{Name: "expectations", Title: "do nothing until the event has come", Run: step.WithEnv(stepExpectations)},
		{Name: "version", Title: "wait for the version of your own write", Run: step.WithEnv(stepVersion)},
		{
			Name: "rights", Title: "list and watch, given and taken away", Run: step.WithEnv(stepRights), Fold: true,
			Patience: 90 * time.Second, // the reflector's pauses grow up to 30 s
		},
		{Name: "metrics", Title: "see it before it hurts", Run: step.WithEnv(stepMetrics)},
		{Name: "fakes", Title: "an event that a fake clientset loses", Run: step.WithEnv(stepFakes)},
	},
})

func main() {
	log.SetLogger(logr.Discard()) // controller-runtime prints a warning if nobody sets its logger
	step.Main(chapter)
}
