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

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/workspace"
)

// Options say which cluster to use. The zero value means $KUBECONFIG, else
// .cluster/kubeconfig in the workspace (which scripts/kind-up.sh and
// scripts/local-up.sh write). ~/.kube/config is never read unless it is named:
// a tutorial must not touch a cluster just because it was the current context.
type Options struct {
	Kubeconfig string // a file; it goes before everything else
	Context    string // default: the kubeconfig's current context
	Namespace  string // one that is there, and stays; default: a new one
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
	env := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	switch {
	case o.Kubeconfig != "":
		files, origin = []string{o.Kubeconfig}, "-kubeconfig"
	case env != "":
		files, origin = filepath.SplitList(env), "$KUBECONFIG"
	default:
		return ownCluster()
	}
	for i, file := range files {
		if files[i], err = filepath.Abs(file); err != nil {
			return nil, "", err
		}
	}
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return files, origin, nil
		}
	}
	return nil, "", fmt.Errorf(
		"the kubeconfig %s, named by %s, does not exist: check the path, or leave it out and run scripts/local-up.sh",
		strings.Join(files, string(filepath.ListSeparator)), origin)
}

// ownCluster returns the kubeconfig of the cluster that the scripts brought up.
func ownCluster() (files []string, origin string, err error) {
	root, err := workspace.Root(".")
	if err != nil {
		return nil, "", errNoCluster
	}
	file := filepath.Join(root, ".cluster", "kubeconfig")
	if _, err := os.Stat(file); err != nil {
		return nil, "", errNoCluster
	}
	return []string{file}, "the workspace", nil
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
	context, err := o.context(merged, name)
	if err != nil {
		return nil, "", err
	}
	config, err = clientcmd.NewNonInteractiveClientConfig(*merged, context, &clientcmd.ConfigOverrides{},
		nil).ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be used: %w", name, oneLine(err))
	}
	return config, kubeconfig, nil
}

// context returns the name of the context to use, which exists.
func (o Options) context(merged *clientcmdapi.Config, name string) (string, error) {
	if len(merged.Contexts) == 0 {
		return "", fmt.Errorf("%s is empty: it names no cluster. Run scripts/local-up.sh for one of your own", name)
	}
	context := o.Context
	if context == "" {
		context = merged.CurrentContext
	}
	if _, ok := merged.Contexts[context]; !ok {
		there := strings.Join(slices.Sorted(maps.Keys(merged.Contexts)), ", ")
		return "", fmt.Errorf("there is no context %q in %s: choose one with -context; it has: %s",
			context, name, there)
	}
	return context, nil
}

// oneLine folds an error's text into one line; a YAML error has several.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
