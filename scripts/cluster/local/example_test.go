// An example of a test's own control plane.

package local_test

import (
	"context"
	"fmt"
	"os"

	"example.com/informer/scripts/cluster/local"
)

// A control plane of one's own, whose API server dies and comes back on the same
// port with the same data.
func ExampleStart() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "") // in a test: t.TempDir()
	cp, err := local.Start(ctx, local.Options{Dir: dir, APIOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cp.Stop()
	fmt.Println("a client finds it through", cp.Kubeconfig())

	_ = cp.Kill(local.APIServer)
	// what does the client do now?
	_ = cp.Restart(ctx, local.APIServer)
	// and now?
}
