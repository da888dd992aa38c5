// Faults of the server's processes.

package catalog

import (
	"context"
	"errors"
	"syscall"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/ground"
)

var processes = []bout.Fault{
	{
		Name:    "kill -9 of the API server",
		Do:      steps{kill(local.APIServer), hold, restart(local.APIServer)},
		Noticed: rewatched,
	},
	{
		Name: "kill -9 of etcd",
		Do:   steps{kill(local.Etcd), hold, bout.Failure, restart(local.Etcd)},
	},
	{
		Name: "API server and etcd frozen",
		Do: steps{
			signal(syscall.SIGSTOP),
			func(ctx context.Context, b *bout.Bout) error { return b.Hold(ctx, b.Scale.Freeze) },
			bout.Failure,
			signal(syscall.SIGCONT),
		},
	},
	{
		Name: "another certificate of the same CA",
		Do: steps{
			kill(local.APIServer),
			server(func(g *ground.Ground, _ context.Context) error { return g.NewCertificate() }),
			hold,
			restart(local.APIServer),
			server(func(g *ground.Ground, _ context.Context) error { return g.ShowsCertificate() }),
		},
		Noticed: rewatched,
	},
	{
		// Nobody remembers what etcd has forgotten of pods: their watches come
		// straight from there.
		Name: "etcd compacted: 410 on resuming",
		Do: steps{
			// A refused connection is the one that a reflector answers by
			// asking for its watch again, and not for a list.
			each(func(s *bout.Subject) { s.TCP.Refuse(); s.TCP.Reset() }),
			hold,
			server((*ground.Ground).Compact),
			each(func(s *bout.Subject) { s.TCP.Restore() }),
		},
		Noticed: saw("ERROR 410"),
	},
}

// kill ends a component the hard way.
func kill(c local.Component) bout.Step {
	return server(func(g *ground.Ground, _ context.Context) error { return g.Plane.Kill(c) })
}

func restart(c local.Component) bout.Step {
	return server(func(g *ground.Ground, ctx context.Context) error { return g.Plane.Restart(ctx, c) })
}

// signal sends a signal to etcd and the API server.
func signal(s syscall.Signal) bout.Step {
	return server(func(g *ground.Ground, _ context.Context) error {
		return errors.Join(g.Plane.Signal(local.APIServer, s), g.Plane.Signal(local.Etcd, s))
	})
}
