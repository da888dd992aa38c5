// Which cluster a chapter talks to: only one that the user chose.

package session

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/harness/workspace"
)

// Options say which cluster to use. The zero value means $KUBECONFIG, else .cluster/kubeconfig in the
// workspace (which scripts/kind-up.sh and scripts/local-up.sh write). ~/.kube/config is never read
// unless it is named: a tutorial must not touch a cluster just because it was the current context.
type Options struct {
	Kubeconfig string // a file; it goes before everything else
	Context    string // default: the kubeconfig's current context
	Namespace  string // one that is there, and stays; default: a new one

	// Patience is how long to wait for an answer of the API server. Default: 10 seconds. A test has
	// more, because the machine may be busy.
	Patience time.Duration
}

// Flags adds -kubeconfig and -context to a command line.
func (o *Options) Flags(fs *flag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", "",
		"the cluster to use (default: $KUBECONFIG, else .cluster/kubeconfig in the workspace)")
	fs.StringVar(&o.Context, "context", "", "the context to use (default: the kubeconfig's current one)")
}

var errNoCluster = errors.New(
	"no cluster chosen: start one with scripts/local-up.sh (no Docker needed) or scripts/kind-up.sh,\n" +
		"or name yours with -kubeconfig FILE or $KUBECONFIG")

// files returns the kubeconfig files to read, of which at least one exists,
// and the place that named them.
func (o Options) files() (files []string, origin string, err error) {
	if files, origin = []string{o.Kubeconfig}, "-kubeconfig"; o.Kubeconfig == "" {
		files, origin = filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)), "$KUBECONFIG"
	}
	if len(files) == 0 { // the cluster that the scripts brought up, if they did
		root, err := workspace.Root(".")
		if err != nil {
			return nil, "", errNoCluster
		}
		files, origin = []string{filepath.Join(root, ".cluster", "kubeconfig")}, "the workspace"
	}
	exists := false
	for i, file := range files {
		if files[i], err = filepath.Abs(file); err != nil {
			return nil, "", err
		}
		_, err := os.Stat(file)
		exists = exists || err == nil
	}
	switch {
	case exists:
		return files, origin, nil
	case origin == "the workspace":
		return nil, "", errNoCluster
	}
	return nil, "", fmt.Errorf(
		"the kubeconfig %s, named by %s, does not exist: check the path, or leave it out and run scripts/local-up.sh",
		strings.Join(files, string(filepath.ListSeparator)), origin)
}

// load reads the kubeconfig and returns the configuration of its chosen context,
// with the files that it is from, as $KUBECONFIG would name them.
func (o Options) load() (config *rest.Config, kubeconfig string, err error) {
	files, origin, err := o.files()
	if err != nil {
		return nil, "", err
	}
	kubeconfig = strings.Join(files, string(filepath.ListSeparator))
	name := fmt.Sprintf("the kubeconfig %s (named by %s)", kubeconfig, origin)
	rules := clientcmd.ClientConfigLoadingRules{Precedence: files}
	merged, err := rules.Load()
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be read: %w", name, oneLine(err))
	}
	contexts := slices.Sorted(maps.Keys(merged.Contexts))
	if len(contexts) == 0 {
		return nil, "", fmt.Errorf("%s is empty: it names no cluster. scripts/local-up.sh starts one of your own", name)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	if config, err = clientcmd.NewDefaultClientConfig(*merged, overrides).ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("%s cannot be used: %w. Choose a context with -context; it has: %s",
			name, oneLine(err), strings.Join(contexts, ", "))
	}
	return config, kubeconfig, nil
}

// oneLine folds an error's text into one line; a YAML error has several.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
