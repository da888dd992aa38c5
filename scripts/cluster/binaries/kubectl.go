// The user's kubectl if its version fits, else one from the cache; and commands for it.

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

// Kubectl returns the path of a kubectl that fits the cluster's version. That is the kubectl from
// PATH if it is at most one minor version away from the cluster, else one that Get gets.
func Kubectl(ctx context.Context, options Options) (string, error) {
	if path, err := exec.LookPath("kubectl"); err == nil && fits(ctx, path, KubernetesVersion()) {
		return filepath.Abs(path)
	}
	folder, err := Get(ctx, options, "kubectl")
	return filepath.Join(folder, "kubectl"), err
}

// fits reports whether a kubectl is at most one minor version away from a server.
func fits(ctx context.Context, kubectl, serverVersion string) bool {
	output, _ := exec.CommandContext(ctx, kubectl, "version", "--client").Output() // no output has no version
	var clientMinor, serverMinor int
	if _, err := fmt.Sscanf(string(output), "Client Version: v1.%d.", &clientMinor); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(serverVersion, "v1.%d.", &serverMinor); err != nil {
		return false
	}
	difference := clientMinor - serverMinor
	return -1 <= difference && difference <= 1
}

// RunKubectl runs a kubectl command on the cluster of a kubeconfig, and returns its standard
// output. kubectl keeps its cache beside the kubeconfig. If the command fails, the error has the
// text of standard error.
func RunKubectl(ctx context.Context, kubectl, kubeconfig string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+filepath.Dir(kubeconfig)+"/cache")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C in the terminal does not reach it
	printed, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && ctx.Err() == nil {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return string(printed), err
}

// Answers returns nil if the API server says that it is ready. It asks once.
func Answers(ctx context.Context, kubectl, kubeconfig string) error {
	_, err := RunKubectl(ctx, kubectl, kubeconfig, "get", "--raw", "/readyz", "--request-timeout=5s")
	return err
}

// Commands that wait for what a pod needs: a node, and the objects that controllers put into a
// namespace.
var (
	NodesReady      = []string{"wait", "nodes", "--all", "--for=condition=Ready", "--timeout=5m"}
	AccountCreated  = []string{"wait", "serviceaccount/default", "--for=create", "--timeout=5m"}
	RootCAPublished = []string{"wait", "configmap/kube-root-ca.crt", "--for=create", "--timeout=5m"}
)

// askEvery is the time between two questions whether the cluster is ready.
const askEvery = 100 * time.Millisecond

// Await returns when the cluster is ready and these kubectl commands have succeeded.
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
