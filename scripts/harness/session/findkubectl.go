// Finding a kubectl that fits the server.

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"

	"example.com/informer/scripts/harness/workspace"
)

// foundKubectls has the path of the kubectl that was found for a server, by host.
var foundKubectls sync.Map

// FindKubectl looks for a kubectl. It takes the kubectl from PATH if that is within one minor
// version of the server, else the kubectl that scripts/cluster has put into .cluster/bin.
func (s *Session) FindKubectl(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.makeDir(); err != nil {
		return err
	}
	root, err := workspace.Clone(".")
	if err != nil {
		root = s.dir // outside of a workspace: a folder without .cluster
	}
	s.cacheDir = filepath.Join(root, ".cluster", "cache")
	if found, ok := foundKubectls.Load(s.Config.Host); ok {
		s.kubectl = found.(string)
		return nil
	}
	if err := s.lookPath(ctx); err != nil {
		own, ownErr := exec.LookPath(filepath.Join(root, ".cluster", "bin", "kubectl"))
		if ownErr != nil {
			return fmt.Errorf("%w: go run ./scripts/cluster prepare puts one into .cluster/bin", err)
		}
		s.kubectl = own
	}
	foundKubectls.Store(s.Config.Host, s.kubectl)
	return nil
}

// lookPath takes the kubectl from PATH. It returns an error if there is none, or if it does not fit
// the server. The caller holds mu.
func (s *Session) lookPath(ctx context.Context) (err error) {
	s.kubectl, err = exec.LookPath("kubectl")
	if err != nil {
		return errors.New("there is no kubectl")
	}
	return s.checkVersion(ctx)
}

// checkVersion returns an error if kubectl is more than one minor version away from the server.
func (s *Session) checkVersion(ctx context.Context) error {
	text, err := s.runKubectl(ctx, "version", "--output=json")
	if err != nil {
		return err
	}
	var versions struct{ ClientVersion, ServerVersion struct{ GitVersion string } }
	_ = json.Unmarshal([]byte(text), &versions) // a text that is not JSON has no versions
	client, _ := version.ParseGeneric(versions.ClientVersion.GitVersion)
	server, _ := version.ParseGeneric(versions.ServerVersion.GitVersion)
	if client != nil && server != nil {
		difference := int(client.Minor()) - int(server.Minor())
		if -1 <= difference && difference <= 1 {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, more than one minor version from the server's %s",
		s.kubectl, versions.ClientVersion.GitVersion, versions.ServerVersion.GitVersion)
}
