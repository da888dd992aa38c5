// Faults of authentication and authorization.

package catalog

import (
	"example.com/informer/docs/lab/faults/scenario"
	"example.com/informer/docs/lab/faults/testenv"
)

var authorization = []scenario.Fault{
	{
		Name: "token expired (401), then replaced",
		Do: steps{
			environment((*testenv.Environment).ExpireToken), reset, hold, waitForOutcome("401"),
			environment((*testenv.Environment).NewToken),
		},
	},
	{
		Name: "rights revoked (403), then granted",
		Do: steps{
			environment((*testenv.Environment).Revoke), reset, hold, waitForOutcome("403"),
			environment((*testenv.Environment).Grant),
		},
	},
}
