// Package faults causes faults between the API server and a handler, on purpose: to the API server and
// etcd, to connections, watches, answers, rights and objects. client-go's informer and ours go through
// each fault side by side, while a workload makes changes. Then a checker compares them with the server.
package faults

import (
	"errors"
	"flag"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/fault"
)

var (
	soakTime = flag.Duration("soak", 0, "run faults at random, at full size, and begin none after this `time`")
	update   = flag.Bool("update", false, "write the table of a soak into soak.txt")
	seed     = flag.Uint64("seed", 20240529, "decides the changes, and the order of a soak, not the moments")
)

// TestMain turns off two defaults of client-go: to log every fault, and to end the program when a
// handler panics.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ReallyCrash = false
	goleak.VerifyTestMain(m)
}

// TestFaults runs every fault once, at a small scale. With -soak, it runs them at random, at full size.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	if *soakTime > 0 {
		soak(t)
		return
	}
	// The client closes a silent connection after ten seconds. With less time, a busy server seems
	// to be dead.
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "5")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "5")
	r := newRunner(t, scale{hold: 500 * time.Millisecond, deletes: 500, rereadsTokens: true})
	for _, f := range faults {
		if _, ok := r.test(t, f); !ok {
			return // the other faults would fail, too
		}
	}
}

// A row is a fault.
type row struct {
	name string
	run  func(*scenario) // causes the fault, and returns when it is over

	before, after func(*scenario)      // before the informers start, and when they have stopped; may be nil
	noticed       func(*instance) bool // reports whether an instance has noticed the fault; nil if none has to
	clientGoFails string               // what client-go's informer does wrong; "" if it does nothing wrong
}

// The namespaces of the faults of many or large objects.
const (
	manyNamespace    = "faults-many"
	deletedNamespace = "faults-deleted"
	largeNamespace   = "faults-large"
)

// faults has the faults in the order of the report.
var faults = []row{
	// Faults of the server's processes.
	{name: "kill -9 of the API server", noticed: rewatched, run: func(s *scenario) {
		s.kill(local.APIServer)
		s.hold(1)
		s.restart(local.APIServer)
	}},
	{name: "kill -9 of etcd", run: func(s *scenario) {
		s.kill(local.Etcd)
		s.hold(1)
		s.waitForFailure()
		s.restart(local.Etcd)
	}},
	{name: "API server and etcd frozen", run: func(s *scenario) {
		s.signal(syscall.SIGSTOP, local.APIServer, local.Etcd)
		s.hold(4)
		s.waitForFailure()
		s.signal(syscall.SIGCONT, local.APIServer, local.Etcd)
	}},
	{name: "another certificate of the same CA", noticed: rewatched, run: func(s *scenario) {
		s.kill(local.APIServer)
		s.env.newCertificate(s)
		s.hold(1)
		s.restart(local.APIServer)
		s.env.checkCertificate(s)
	}},
	// The API server has no watch cache of pods, so the versions that etcd has compacted are lost.
	// The connections are refused because then a reflector tries the watch again. After most other
	// errors of a WATCH it lists.
	{name: "etcd compacted: 410 on resuming", noticed: gotExpired, run: func(s *scenario) {
		for _, in := range s.instances {
			in.proxy.Refuse()
		}
		s.reset()
		s.hold(1)
		s.missChanges()
		s.env.compact(s)
		for _, in := range s.instances {
			in.proxy.Restore()
		}
	}},

	// Faults of the connections that carry the watches.
	{name: "connection reset", noticed: rewatched, run: func(s *scenario) {
		s.changeHandlers()
		s.reset()
		s.missChanges()
	}},
	{name: "connection half-closed", noticed: rewatched, run: func(s *scenario) {
		s.changeHandlers()
		for _, in := range s.instances {
			in.proxy.HalfClose()
		}
		s.missChanges()
	}},
	// Only the open connections are dead, without a FIN or a RST. A new one works.
	{name: "connection black-holed", noticed: rewatched, run: func(s *scenario) {
		s.changeHandlers()
		for _, in := range s.instances {
			in.proxy.BlackHole()
		}
		s.missChanges()
	}},

	// Faults in the frames of a watch.
	{name: "watch cut in the middle of a frame", noticed: rewatched,
		run: func(s *scenario) { s.changeFrames(fault.CutFrame) }},
	{name: "garbage in the watch", noticed: rewatched,
		run: func(s *scenario) { s.changeFrames(fault.Garbage) }},
	{name: "an event of an unknown type", noticed: rewatched,
		run: func(s *scenario) { s.changeFrames(fault.UnknownType) }},
	{name: "an ERROR event", noticed: rewatched,
		run: func(s *scenario) { s.changeFrames(fault.ErrorEvent) }},
	{name: "an object of the wrong kind",
		run: func(s *scenario) { s.changeFrames(fault.WrongKind) }},
	{name: "an object without a name",
		run:           func(s *scenario) { s.changeFrames(fault.NoName) },
		clientGoFails: `stores it under the key "namespace/", until the next list`},

	// Faults in the answers of the API server.
	{name: "429 with Retry-After",
		run: func(s *scenario) { s.refuseRequests(apierrors.NewTooManyRequests("made up", 1)) }},
	{name: "500 for a while",
		run: func(s *scenario) { s.refuseRequests(apierrors.NewInternalError(errors.New("made up"))) }},
	{name: "503 for a while",
		run: func(s *scenario) { s.refuseRequests(apierrors.NewServiceUnavailable("made up")) }},
	{name: "a LIST that takes long", noticed: rewatched, run: func(s *scenario) {
		var holds []*fault.Hold
		for _, in := range s.instances {
			hold := in.requests.Hold(0, func(sent *fault.Request) bool { return sent.Verb.Lists() })
			defer hold.Release()
			holds = append(holds, hold)
		}
		s.inject(fault.Expired)
		s.until("all lists are held", func() bool {
			return !slices.ContainsFunc(holds, func(hold *fault.Hold) bool { return hold.Held() < len(resources) })
		})
		s.hold(6)
	}},
	{name: "410 within a paged LIST", run: func(s *scenario) {
		defer s.addRules(expiredPages()...)()
		s.changeHandlers()
		s.inject(fault.Expired)
		s.waitForStatus(http.StatusGone, len(resources))
	}},

	// Faults of authentication and authorization.
	{name: "token expired (401), then replaced", run: func(s *scenario) {
		s.env.kubectl(s, "delete serviceaccount informer")
		s.env.waitForAnswer(s, apierrors.IsUnauthorized)
		s.reset()
		s.hold(1)
		s.waitForStatus(http.StatusUnauthorized, 1)
		s.env.newToken(s)
	}},
	{name: "rights revoked (403), then granted", run: func(s *scenario) {
		s.env.kubectl(s, "delete clusterrolebinding informer")
		s.env.waitForAnswer(s, apierrors.IsForbidden)
		s.reset()
		s.hold(1)
		s.waitForStatus(http.StatusForbidden, 1)
		s.env.kubectl(s, grantRights)
	}},

	// Faults of the objects: many deletes, large objects, wrong times.
	{name: "many objects deleted in one call",
		before: func(s *scenario) { s.fill(manyNamespace, s.scale.deletes) },
		run: func(s *scenario) {
			s.changeHandlers()
			s.env.kubectl(s, "delete --raw /api/v1/namespaces/"+manyNamespace+"/configmaps")
		}},
	{name: "a namespace deleted", // the controllers empty it
		before: func(s *scenario) {
			s.restart(local.ControllerManager)
			s.env.kubectl(s, "create namespace "+deletedNamespace)
			s.fill(deletedNamespace, s.scale.deletes/10)
		},
		run: func(s *scenario) {
			s.changeHandlers()
			s.env.kubectl(s, "delete namespace "+deletedNamespace)
		},
		after: func(s *scenario) { s.kill(local.ControllerManager) }},
	{name: "an object of 1 MiB", noticed: rewatched,
		run: func(s *scenario) {
			s.changeHandlers()
			for _, digit := range []string{"0", "1", "2"} {
				s.applyLargeObject(digit)
				s.reset()
			}
		},
		after: func(s *scenario) { s.env.kubectl(s, "delete configmap large -n "+largeNamespace) }},
	{name: "the clock of the writers jumps", // informers compare versions, not times, so this must have no effect
		run: func(s *scenario) {
			defer s.load.skew.Store(0)
			for _, jump := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
				s.load.skew.Add(int64(jump))
				s.hold(1. / 3)
			}
		}},
}
