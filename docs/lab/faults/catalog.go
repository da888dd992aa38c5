// The catalog of faults: everything that can go wrong between the API server and a handler.

package main

import (
	"errors"
	"net/http"
	"slices"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/fault"
)

// allFaults returns the faults in the order of the report.
func allFaults() []entry {
	return slices.Concat(processes, connections, streams, answers, authorization, objects)
}

// processes are faults of the server's processes.
var processes = []entry{
	{name: "kill -9 of the API server", noticed: rewatched,
		inject: steps{kill(local.APIServer), hold, restart(local.APIServer)}},
	{name: "kill -9 of etcd",
		inject: steps{kill(local.Etcd), hold, waitForFailure, restart(local.Etcd)}},
	{name: "API server and etcd frozen",
		inject: steps{signalServers(syscall.SIGSTOP), holdTimes(4), waitForFailure, signalServers(syscall.SIGCONT)}},
	{name: "another certificate of the same CA", noticed: rewatched,
		inject: steps{
			kill(local.APIServer), onServer((*environment).newCertificate), hold, restart(local.APIServer),
			onServer((*environment).checkCertificate),
		}},
	// The API server has no watch cache of pods, so the versions that etcd has compacted are lost.
	// The connections are refused because then a reflector tries the watch again. After most other
	// errors of a WATCH it lists.
	{name: "etcd compacted: 410 on resuming",
		noticed: func(in *instance) bool { return in.frames.Errors(http.StatusGone) > 0 },
		inject: steps{
			eachInstance(func(in *instance) { in.proxy.Refuse() }), reset, hold, missChanges,
			onServer((*environment).compact),
			eachInstance(func(in *instance) { in.proxy.Restore() }),
		}},
}

// connections are faults of the connections that carry the watches.
var connections = []entry{
	{name: "connection reset", noticed: rewatched,
		inject: steps{changeHandlers, reset, missChanges}},
	{name: "connection half-closed", noticed: rewatched,
		inject: steps{changeHandlers, eachInstance(func(in *instance) { in.proxy.HalfClose() }), missChanges}},
	// Only the open connections are dead, without a FIN or a RST. A new one works.
	{name: "connection black-holed", noticed: rewatched,
		inject: steps{changeHandlers, eachInstance(func(in *instance) { in.proxy.BlackHole() }), missChanges}},
}

// streams are faults in the frames of a watch.
var streams = []entry{
	{name: "watch cut in the middle of a frame", inject: inFrames(fault.CutFrame), noticed: rewatched},
	{name: "garbage in the watch", inject: inFrames(fault.Garbage), noticed: rewatched},
	{name: "an event of an unknown type", inject: inFrames(fault.UnknownType), noticed: rewatched},
	{name: "an ERROR event", inject: inFrames(fault.ErrorEvent), noticed: rewatched},
	{name: "an object of the wrong kind", inject: inFrames(fault.WrongKind)},
	{name: "an object without a name", inject: inFrames(fault.NoName),
		clientGoFails: "stores it under the key \"namespace/\", until the next list"},
}

// answers are faults in the answers of the API server.
var answers = []entry{
	{name: "429 with Retry-After", inject: refuse(apierrors.NewTooManyRequests("made up", 1))},
	{name: "500 for a while", inject: refuse(apierrors.NewInternalError(errors.New("made up")))},
	{name: "503 for a while", inject: refuse(apierrors.NewServiceUnavailable("made up"))},
	{name: "a LIST that takes long", inject: steps{slowLists}, noticed: rewatched},
	{name: "410 within a paged LIST",
		inject: steps{
			underRules(expiredPages(), changeHandlers, inject(fault.Expired),
				waitUntil("all lists have failed at their second page", func(in *instance) bool {
					return in.requests.Count(hasStatus(http.StatusGone)) >= 2
				})),
		}},
}

// authorization are faults of authentication and authorization.
var authorization = []entry{
	{name: "token expired (401), then replaced",
		inject: steps{
			kubectl("delete serviceaccount informer"), refused(apierrors.IsUnauthorized), reset, hold,
			waitForStatus(http.StatusUnauthorized), onServer((*environment).newToken),
		}},
	{name: "rights revoked (403), then granted",
		inject: steps{
			kubectl("delete clusterrolebinding informer"), refused(apierrors.IsForbidden), reset, hold,
			waitForStatus(http.StatusForbidden), kubectl(grantRights),
		}},
}

// The namespaces of these faults.
const (
	manyNamespace    = "faults-many"
	deletedNamespace = "faults-deleted"
	largeNamespace   = "faults-large"
)

// objects are faults of the objects on the server: many deletes, large objects, wrong times.
var objects = []entry{
	{name: "many objects deleted in one call",
		before: steps{fill(manyNamespace, 1)},
		inject: steps{changeHandlers, kubectl("delete --raw /api/v1/namespaces/" + manyNamespace + "/configmaps")}},
	{name: "a namespace deleted", // the controllers empty it
		before: steps{
			restart(local.ControllerManager), kubectl("create namespace " + deletedNamespace),
			fill(deletedNamespace, 10),
		},
		inject: steps{changeHandlers, kubectl("delete namespace " + deletedNamespace)},
		after:  steps{kill(local.ControllerManager)}},
	{name: "an object of 1 MiB", noticed: rewatched,
		inject: steps{changeHandlers, writeLargeObject},
		after:  steps{kubectl("delete configmap large -n " + largeNamespace)}},
	{name: "the clock of the writers jumps", // informers compare versions, not times, so this must have no effect
		inject: steps{skewClock}},
}
