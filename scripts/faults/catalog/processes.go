// Faults of the server's processes.

package catalog

import (
	"context"
	"syscall"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/faults/bout"
)

var processes = []bout.Fault{
	{
		Name: "kill -9 of the API server",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Kill(local.APIServer) },
				hold(ctx, b),
				func() error { return b.Ground.Plane.Restart(ctx, local.APIServer) })
		},
		Noticed: rewatched,
	},
	{
		Name: "kill -9 of etcd",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Kill(local.Etcd) },
				hold(ctx, b),
				func() error { return b.Failure(ctx) },
				func() error { return b.Ground.Plane.Restart(ctx, local.Etcd) })
		},
	},
	{
		Name: "API server and etcd frozen",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Signal(syscall.SIGSTOP) },
				func() error { return b.Hold(ctx, b.Scale.Freeze) },
				func() error { return b.Failure(ctx) },
				func() error { return b.Ground.Signal(syscall.SIGCONT) })
		},
	},
	{
		Name: "another certificate of the same CA",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Kill(local.APIServer) },
				func() error { return b.Ground.NewCertificate() },
				hold(ctx, b),
				func() error { return b.Ground.Plane.Restart(ctx, local.APIServer) },
				func() error { return b.Ground.ShowsCertificate(ctx) })
		},
		Noticed: rewatched,
	},
	{
		// Nobody remembers what etcd has forgotten of pods: their watches come
		// straight from there.
		Name: "etcd compacted: 410 on resuming",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				// A refused connection is the one that a reflector answers by
				// asking for its watch again, and not for a list.
				func() error {
					each(b, func(s *bout.Subject) { s.TCP.Refuse(); s.TCP.Reset() })
					return nil
				},
				hold(ctx, b),
				func() error { return b.Ground.Compact(ctx) },
				func() error {
					each(b, func(s *bout.Subject) { s.TCP.Restore() })
					return nil
				})
		},
		Noticed: saw("ERROR 410"),
	},
}
