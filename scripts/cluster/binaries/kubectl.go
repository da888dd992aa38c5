// kubectl: the user's, if it fits.

package binaries

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kubectl returns the path of a kubectl that fits the cluster's version: the one from
// PATH if it is at most one minor version away, else one that Get gets.
func Kubectl(ctx context.Context, options Options) (string, error) {
	wanted, err := KubernetesVersion()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("kubectl"); err == nil && fits(ctx, path, wanted) {
		return filepath.Abs(path)
	}
	folder, err := Get(ctx, options, "kubectl")
	return filepath.Join(folder, "kubectl"), err
}

// fits is whether a kubectl is at most one minor version away from a server.
func fits(ctx context.Context, kubectl, server string) bool {
	said, err := exec.CommandContext(ctx, kubectl, "version", "--client", "--output=json").Output()
	var client struct{ ClientVersion struct{ Major, Minor string } }
	var major, minor int
	if err != nil || json.Unmarshal(said, &client) != nil {
		return false
	}
	if _, err := fmt.Sscanf(server, "v%d.%d.", &major, &minor); err != nil {
		return false
	}
	has, err := strconv.Atoi(strings.TrimSuffix(client.ClientVersion.Minor, "+"))
	return err == nil && client.ClientVersion.Major == strconv.Itoa(major) && has-minor <= 1 && minor-has <= 1
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

// NodesReady is a kubectl command that waits for the nodes.
const NodesReady = "wait nodes --all --for=condition=Ready --timeout=2m"

// PodsCanBeCreated are kubectl commands that wait for what every pod needs.
func PodsCanBeCreated() []string {
	return []string{NodesReady, "wait serviceaccount/default --for=create --namespace=default --timeout=2m",
		"wait configmap/kube-root-ca.crt --for=create --namespace=default --timeout=2m"}
}

// Await returns when the cluster answers and these kubectl commands have succeeded.
func Await(ctx context.Context, kubectl, kubeconfig string, commands ...string) error {
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
		if _, err := RunKubectl(ctx, kubectl, kubeconfig, strings.Fields(command)...); err != nil {
			return fmt.Errorf("kubectl %s: %w", command, cmp.Or(context.Cause(ctx), err))
		}
	}
	return nil
}

const askEvery = 100 * time.Millisecond
