// Which kubectl to use: the user's, if it fits.

package binaries

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	if err != nil || json.Unmarshal(said, &client) != nil {
		return false
	}
	var major, minor int
	if _, err := fmt.Sscanf(server, "v%d.%d.", &major, &minor); err != nil {
		return false
	}
	has, err := strconv.Atoi(strings.TrimSuffix(client.ClientVersion.Minor, "+"))
	return err == nil && client.ClientVersion.Major == strconv.Itoa(major) && has-minor <= 1 && minor-has <= 1
}
