// kubectl: the user's, if it fits.

package binaries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Kubectl returns the path of a kubectl that fits the cluster's version: the one from
// PATH if it is at most one minor version away, else one that Get gets.
func Kubectl(ctx context.Context, options Options) (string, error) {
	if path, err := exec.LookPath("kubectl"); err == nil && fits(ctx, path, KubernetesVersion()) {
		return filepath.Abs(path)
	}
	folder, err := Get(ctx, options, "kubectl")
	return filepath.Join(folder, "kubectl"), err
}

// fits is whether a kubectl is at most one minor version away from a server.
func fits(ctx context.Context, kubectl, server string) bool {
	said, _ := exec.CommandContext(ctx, kubectl, "version", "--client").Output()
	var has, minor int
	_, noClient := fmt.Sscanf(string(said), "Client Version: v1.%d.", &has)
	_, noServer := fmt.Sscanf(server, "v1.%d.", &minor)
	return noClient == nil && noServer == nil && has-minor <= 1 && minor-has <= 1
}

// RunKubectl runs a kubectl command on the cluster of a kubeconfig, keeps its cache beside
// that, and returns what it printed. An error is what it said.
func RunKubectl(ctx context.Context, kubectl, kubeconfig string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+filepath.Dir(kubeconfig)+"/cache")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us
	printed, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && ctx.Err() == nil {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return string(printed), err
}

// Answers asks a cluster, once, whether it is ready.
func Answers(ctx context.Context, kubectl, kubeconfig string) error {
	_, err := RunKubectl(ctx, kubectl, kubeconfig, "get", "--raw", "/readyz", "--request-timeout=5s")
	return err
}

// Commands that wait for what a pod needs: a node, and what controllers put into a namespace.
var (
	NodesReady      = []string{"wait", "nodes", "--all", "--for=condition=Ready", "--timeout=5m"}
	AccountCreated  = []string{"wait", "serviceaccount/default", "--for=create", "--timeout=5m"}
	RootCAPublished = []string{"wait", "configmap/kube-root-ca.crt", "--for=create", "--timeout=5m"}
)

// Await returns when the cluster answers and these commands have succeeded.
func Await(ctx context.Context, kubectl, kubeconfig string, commands ...[]string) error {
	for {
		err := Answers(ctx, kubectl, kubeconfig)
		if err == nil {
			break
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return fmt.Errorf("%w; still missing: a ready API server: %w", context.Cause(ctx), err)
		}
	}
	for _, command := range commands {
		if _, err := RunKubectl(ctx, kubectl, kubeconfig, command...); err != nil {
			return fmt.Errorf("kubectl %s: %w", strings.Join(command, " "), cmp.Or(context.Cause(ctx), err))
		}
	}
	return nil
}

const askEvery = 100 * time.Millisecond
