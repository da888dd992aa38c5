// Faults of who one is and what one may do.

package catalog

import (
	"context"

	"example.com/informer/scripts/faults/bout"
)

var rights = []bout.Fault{
	{
		Name: "token expired (401), then replaced",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Expire(ctx) },
				func() error { each(b, func(s *bout.Subject) { s.TCP.Reset() }); return nil },
				hold(ctx, b),
				func() error { return b.Ground.NewToken(ctx) })
		},
		Noticed: saw("401"),
	},
	{
		Name: "rights revoked (403), then granted",
		Do: func(ctx context.Context, b *bout.Bout) error {
			return inTurn(
				func() error { return b.Ground.Revoke(ctx) },
				func() error { each(b, func(s *bout.Subject) { s.TCP.Reset() }); return nil },
				hold(ctx, b),
				func() error { return b.Ground.Grant(ctx) })
		},
		Noticed: saw("403"),
	},
}
