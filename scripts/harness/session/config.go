// Which cluster a chapter uses: only a cluster that the user has chosen.

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

// Options say which cluster to use. The zero value means $KUBECONFIG, else .cluster/kubeconfig in
// the workspace (which scripts/kind-up.sh and scripts/local-up.sh write). ~/.kube/config is read
// only if it is named, because a tutorial must not touch a cluster only because that cluster is the
// current context.
type Options struct {
	Kubeconfig string // a file; it has priority over $KUBECONFIG and the workspace
	Context    string // default: the kubeconfig's current context
	Namespace  string // an existing namespace, which Close does not remove; default: a new one

	// Patience is how long to wait for an answer of the API server. Default: 10 seconds. A test
	// waits longer, because the machine may be busy.
	Patience time.Duration
}

// Flags adds -kubeconfig and -context to a command line.
func (o *Options) Flags(fs *flag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", "",
		"the cluster to use (default: $KUBECONFIG, else .cluster/kubeconfig in the workspace)")
	fs.StringVar(&o.Context, "context", "", "the context to use (default: the kubeconfig's current one)")
}

// startOne says how to start a cluster.
const startOne = "start one with scripts/kind-up.sh, or without Docker with scripts/local-up.sh"

var errNoCluster = errors.New("no cluster chosen: " + startOne + ",\n" +
	"or name yours with -kubeconfig FILE or $KUBECONFIG")

// files returns the kubeconfig files to read, with absolute paths, and what named them. At least
// one of them exists.
func (o Options) files() (files []string, namedBy string, err error) {
	if o.Kubeconfig != "" {
		files, err = existing([]string{o.Kubeconfig}, "-kubeconfig")
		return files, "-kubeconfig", err
	}
	if env := filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)); len(env) > 0 {
		files, err = existing(env, "$KUBECONFIG")
		return files, "$KUBECONFIG", err
	}
	root, err := workspace.Clone(".")
	if err != nil {
		return nil, "", errNoCluster
	}
	file := filepath.Join(root, ".cluster", "kubeconfig")
	if _, err := os.Stat(file); err != nil {
		return nil, "", errNoCluster
	}
	return []string{file}, "the workspace", nil
}

// existing returns files with absolute paths. It returns an error if none of them exists.
func existing(files []string, namedBy string) (paths []string, err error) {
	found := false
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
		if _, err := os.Stat(path); err == nil {
			found = true
		}
	}
	if !found {
		return nil, fmt.Errorf("the kubeconfig %s, named by %s, does not exist: check the path, "+
			"or leave it out and "+startOne, strings.Join(paths, string(filepath.ListSeparator)), namedBy)
	}
	return paths, nil
}

// load reads the kubeconfig, and returns the configuration of the chosen context. It also returns
// the files that it has read, as $KUBECONFIG would name them.
func (o Options) load() (config *rest.Config, kubeconfig string, err error) {
	files, namedBy, err := o.files()
	if err != nil {
		return nil, "", err
	}
	kubeconfig = strings.Join(files, string(filepath.ListSeparator))
	name := fmt.Sprintf("the kubeconfig %s (named by %s)", kubeconfig, namedBy)
	rules := clientcmd.ClientConfigLoadingRules{Precedence: files}
	merged, err := rules.Load()
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be read: %w", name, oneLine(err))
	}
	contexts := slices.Sorted(maps.Keys(merged.Contexts))
	if len(contexts) == 0 {
		return nil, "", fmt.Errorf("%s is empty: it names no cluster; "+startOne, name)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	config, err = clientcmd.NewDefaultClientConfig(*merged, overrides).ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be used: %w. Choose a context with -context; it has: %s",
			name, oneLine(err), strings.Join(contexts, ", "))
	}
	return config, kubeconfig, nil
}

// oneLine returns an error with the same text in one line. (A YAML error has several lines.)
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
