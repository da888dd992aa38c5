package play

import (
	"context"
	"io/fs"
)

// A Cluster is what the player needs of the cluster that a step runs on. A session has most of
// these methods.
type Cluster interface {
	Namespace() string // the namespace of the step
	Watching() bool    // the API server has accepted a watch of the step

	FindKubectl() error
	Kubectl(ctx context.Context, files fs.FS, verb string, args ...string) ([]string, error)
	KubectlCommand() string                        // a command that works in another terminal
	File(files fs.FS, name string) (string, error) // the path of a file of testdata, with this namespace in it
	Explain(error) error
	Close(context.Context) error
}
