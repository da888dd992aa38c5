// The catalog of faults: what can go wrong between the API server and a handler.

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
		do: steps{kill(local.APIServer), hold, restart(local.APIServer)}},
	{name: "kill -9 of etcd",
		do: steps{kill(local.Etcd), hold, waitForFailure, restart(local.Etcd)}},
	{name: "API server and etcd frozen",
		do: steps{signalServers(syscall.SIGSTOP), holdTimes(4), waitForFailure, signalServers(syscall.SIGCONT)}},
	{name: "another certificate of the same CA", noticed: rewatched,
		do: steps{
			kill(local.APIServer), onServer((*environment).newCertificate), hold, restart(local.APIServer),
			onServer((*environment).checkCertificate),
		}},
	// The API server has no watch cache of pods: what etcd has forgotten of them is
	// lost. A reflector tries the watch again if the connection was refused. After
	// most other errors of that request it lists.
	{name: "etcd compacted: 410 on resuming", noticed: saw("ERROR 410"),
		do: steps{
			each(func(in *instance) { in.tcp.Refuse(); in.tcp.Reset() }), hold, missChanges,
			onServer((*environment).compact),
			each(func(in *instance) { in.tcp.Restore() }),
		}},
}

// connections are faults of the connections that carry the watches.
var connections = []fault{
	{name: "connection reset", noticed: rewatched,
		do: steps{changeHandlers, reset, missChanges}},
	{name: "connection half-closed", noticed: rewatched,
		do: steps{changeHandlers, each(func(in *instance) { in.tcp.HalfClose() }), missChanges}},
	// Only the open connections are dead, without a FIN or a RST. A new one works.
	{name: "connection black-holed", noticed: rewatched,
		do: steps{changeHandlers, each(func(in *instance) { in.tcp.BlackHole() }), missChanges}},
}

// streams are faults in the frames of a watch.
var streams = []fault{
	{name: "watch cut in the middle of a frame", do: inFrames(httpfault.Cut), noticed: rewatched},
	{name: "garbage in the watch", do: inFrames(httpfault.Garbage), noticed: rewatched},
	{name: "an event of an unknown type", do: inFrames(httpfault.UnknownType), noticed: rewatched},
	{name: "an ERROR event", do: inFrames(httpfault.ErrorEvent), noticed: rewatched},
	{name: "an object of the wrong kind", do: inFrames(httpfault.WrongKind)},
	{name: "an object without a name", do: inFrames(httpfault.NoName),
		clientGoFails: "stores it under the key \"namespace/\", until the next list"},
}

// answers are faults in how the API server answers.
var answers = []fault{
	{name: "429 with Retry-After", do: refuse(apierrors.NewTooManyRequests("made up", 1))},
	{name: "500 for a while", do: refuse(apierrors.NewInternalError(errors.New("made up")))},
	{name: "503 for a while", do: refuse(apierrors.NewServiceUnavailable("made up"))},
	{name: "a LIST that takes long", do: steps{slowLists}, noticed: rewatched},
	{name: "410 within a paged LIST",
		do: steps{
			each(func(in *instance) { in.http.SetRule(expiredPages(in)) }), changeHandlers, inject(httpfault.Expired),
			until("all lists have failed at their second page", func(in *instance) bool {
				return in.http.Requests("", "410") >= 2
			}),
			rule(httpfault.Pass),
		}},
}

// authorization has the faults of authentication and authorization.
var authorization = []fault{
	{name: "token expired (401), then replaced",
		do: steps{
			kubectl("delete serviceaccount informer"), refused(apierrors.IsUnauthorized), reset, hold,
			waitForOutcome("401"), onServer((*environment).newToken),
		}},
	{name: "rights revoked (403), then granted",
		do: steps{
			kubectl("delete clusterrolebinding informer"), refused(apierrors.IsForbidden), reset, hold,
			waitForOutcome("403"), kubectl(grantRights),
		}},
}

// The namespaces of these faults.
const many, deleted, large = "faults-many", "faults-deleted", "faults-large"

// objects are faults of the objects on the server: too many, too large, strange times.
var objects = []fault{
	{name: "many objects deleted in one call",
		before: steps{fill(many, 1)},
		do:     steps{changeHandlers, kubectl("delete --raw /api/v1/namespaces/" + many + "/configmaps")}},
	{name: "a namespace deleted", // the controllers empty it
		before: steps{restart(local.ControllerManager), kubectl("create namespace " + deleted), fill(deleted, 10)},
		do:     steps{changeHandlers, kubectl("delete namespace " + deleted)},
		after:  steps{kill(local.ControllerManager)}},
	{name: "an object of 1 MiB", noticed: rewatched,
		do:    steps{changeHandlers, writeLargeObject},
		after: steps{kubectl("delete configmap large -n " + large)}},
	{name: "the clock of the writers jumps", // informers look at versions, never at times: nothing may happen
		do: steps{skewClock}},
}
