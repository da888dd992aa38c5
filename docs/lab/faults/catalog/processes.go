// Faults of the server's processes.

package catalog

import (
	"context"
	"errors"
	"syscall"

	"example.com/informer/docs/lab/faults/scenario"
	"example.com/informer/docs/lab/faults/testenv"
	"example.com/informer/scripts/cluster/local"
)

var processes = []scenario.Fault{
	{
		Name:    "kill -9 of the API server",
		Do:      steps{kill(local.APIServer), hold, restart(local.APIServer)},
		Noticed: rewatched,
	},
	{
		Name: "kill -9 of etcd",
		Do:   steps{kill(local.Etcd), hold, scenario.WaitForFailure, restart(local.Etcd)},
	},
	{
		Name: "API server and etcd frozen",
		Do: steps{
			signal(syscall.SIGSTOP),
			func(ctx context.Context, s *scenario.Scenario) error { return s.Hold(ctx, s.Scale.Freeze) },
			scenario.WaitForFailure,
			signal(syscall.SIGCONT),
		},
	},
	{
		Name: "another certificate of the same CA",
		Do: steps{
			kill(local.APIServer),
			environment(func(e *testenv.Environment, _ context.Context) error { return e.NewCertificate() }),
			hold,
			restart(local.APIServer),
			environment(func(e *testenv.Environment, _ context.Context) error { return e.CheckCertificate() }),
		},
		Noticed: rewatched,
	},
	{
		// The API server has no watch cache of pods: what etcd has forgotten of
		// them is lost.
		Name: "etcd compacted: 410 on resuming",
		Do: steps{
			// A reflector tries the watch again if the connection was refused.
			// After most other errors of that request it lists.
			each(func(in *scenario.Instance) { in.TCP.Refuse(); in.TCP.Reset() }),
			hold,
			environment((*testenv.Environment).Compact),
			each(func(in *scenario.Instance) { in.TCP.Restore() }),
		},
		Noticed: saw("ERROR 410"),
	},
}

// kill kills a component with SIGKILL.
func kill(c string) scenario.Step {
	return environment(func(e *testenv.Environment, _ context.Context) error { return e.ControlPlane.Kill(c) })
}

func restart(c string) scenario.Step {
	return environment(func(e *testenv.Environment, ctx context.Context) error {
		return e.ControlPlane.Restart(ctx, c)
	})
}

// signal sends a signal to etcd and the API server.
func signal(s syscall.Signal) scenario.Step {
	return environment(func(e *testenv.Environment, _ context.Context) error {
		return errors.Join(e.ControlPlane.Signal(local.APIServer, s), e.ControlPlane.Signal(local.Etcd, s))
	})
}
