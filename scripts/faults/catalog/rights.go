// Faults of who one is and what one may do.

package catalog

import (
	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/ground"
)

var rights = []bout.Fault{
	{
		Name: "token expired (401), then replaced",
		Do: steps{
			server((*ground.Ground).Expire), reset, hold, answered("401"), server((*ground.Ground).NewToken),
		},
	},
	{
		Name: "rights revoked (403), then granted",
		Do: steps{
			server((*ground.Ground).Revoke), reset, hold, answered("403"), server((*ground.Ground).Grant),
		},
	},
}
