// The catalog of faults: everything that can go wrong between the API server and a handler.

package main

import (
	"errors"
	"slices"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/cluster/local"
)

// allFaults returns the faults in the order of the report.
func allFaults() []fault {
	return slices.Concat(processes, connections, streams, answers, authorization, objects)
}

// processes are faults of the server's processes.
var processes = []fault{
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
	{name: "etcd compacted: 410 on resuming", noticed: sawOutcome("ERROR 410"),
		inject: steps{
			eachInstance(func(in *instance) { in.tcp.Refuse() }), reset, hold, missChanges,
			onServer((*environment).compact),
			eachInstance(func(in *instance) { in.tcp.Restore() }),
		}},
}

// connections are faults of the connections that carry the watches.
var connections = []fault{
	{name: "connection reset", noticed: rewatched,
		inject: steps{changeHandlers, reset, missChanges}},
	{name: "connection half-closed", noticed: rewatched,
		inject: steps{changeHandlers, eachInstance(func(in *instance) { in.tcp.HalfClose() }), missChanges}},
	// Only the open connections are dead, without a FIN or a RST. A new one works.
	{name: "connection black-holed", noticed: rewatched,
		inject: steps{changeHandlers, eachInstance(func(in *instance) { in.tcp.BlackHole() }), missChanges}},
}

// streams are faults in the frames of a watch.
var streams = []fault{
	{name: "watch cut in the middle of a frame", inject: inFrames(httpfault.Cut), noticed: rewatched},
	{name: "garbage in the watch", inject: inFrames(httpfault.Garbage), noticed: rewatched},
	{name: "an event of an unknown type", inject: inFrames(httpfault.UnknownType), noticed: rewatched},
	{name: "an ERROR event", inject: inFrames(httpfault.ErrorEvent), noticed: rewatched},
	{name: "an object of the wrong kind", inject: inFrames(httpfault.WrongKind)},
	{name: "an object without a name", inject: inFrames(httpfault.NoName),
		clientGoFails: "stores it under the key \"namespace/\", until the next list"},
}

// answers are faults in the answers of the API server.
var answers = []fault{
	{name: "429 with Retry-After", inject: refuse(apierrors.NewTooManyRequests("made up", 1))},
	{name: "500 for a while", inject: refuse(apierrors.NewInternalError(errors.New("made up")))},
	{name: "503 for a while", inject: refuse(apierrors.NewServiceUnavailable("made up"))},
	{name: "a LIST that takes long", inject: steps{slowLists}, noticed: rewatched},
	{name: "410 within a paged LIST",
		inject: steps{
			eachInstance(func(in *instance) { in.http.SetRule(expiredPages(in)) }), changeHandlers,
			inject(httpfault.Expired),
			waitUntil("all lists have failed at their second page", func(in *instance) bool {
				return in.http.Requests("", "410") >= 2
			}),
			setRule(httpfault.Pass),
		}},
}

// authorization are faults of authentication and authorization.
var authorization = []fault{
	{name: "token expired (401), then replaced",
		inject: steps{
			kubectl("delete serviceaccount informer"), refused(apierrors.IsUnauthorized), reset, hold,
			waitForOutcome("401"), onServer((*environment).newToken),
		}},
	{name: "rights revoked (403), then granted",
		inject: steps{
			kubectl("delete clusterrolebinding informer"), refused(apierrors.IsForbidden), reset, hold,
			waitForOutcome("403"), kubectl(grantRights),
		}},
}

// The namespaces of these faults.
const (
	manyNamespace    = "faults-many"
	deletedNamespace = "faults-deleted"
	largeNamespace   = "faults-large"
)

// objects are faults of the objects on the server: many deletes, large objects, wrong times.
var objects = []fault{
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
