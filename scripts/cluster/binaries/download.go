// Downloading released programs, each with its checksum.

package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Where releases are. A test has servers of its own.
var (
	kubernetesReleases = "https://dl.k8s.io/release"
	gitHubAPI          = "https://api.github.com/repos"
)

// The patience of a download: a server that does not name its checksums within
// probeTimeout is out of reach, and one that sends nothing for stallTimeout has broken off.
var (
	probeTimeout = 3 * time.Second
	stallTimeout = 30 * time.Second
)

// errNotReleased: there is no network, or nothing for this kind of machine.
var errNotReleased = errors.New("not released")

// A release is one file to download.
type release struct {
	name     string // of the program
	url      string
	checksum string // SHA-256, in hexadecimal
}

// download downloads programs into a folder. It begins only when the checksums of all
// of them are known.
func (s *source) download(ctx context.Context, names []string, folder string, progress io.Writer) error {
	releases := make([]release, len(names))
	for i, name := range names {
		var err error
		if releases[i], err = s.find(ctx, name); err != nil {
			return fmt.Errorf("%w: %s: %w", errNotReleased, name, err)
		}
	}
	for _, r := range releases {
		if err := r.download(ctx, filepath.Join(folder, r.name), progress); err != nil {
			return fmt.Errorf("downloading %s: %w; building from Go modules instead", r.url, err)
		}
	}
	return nil
}

// find asks for the checksum of a program.
func (s *source) find(ctx context.Context, name string) (release, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	system := runtime.GOOS + "-" + runtime.GOARCH
	switch name {
	case "etcd":
		return onGitHub(ctx, name, "etcd-io/etcd", s.etcd, fmt.Sprintf("etcd-%s-%s.tar.gz", s.etcd, system))
	case "kwok", "kwokctl":
		return onGitHub(ctx, name, "kubernetes-sigs/kwok", s.kwok, name+"-"+system)
	}
	url := fmt.Sprintf("%s/%s/bin/%s/%s/%s", kubernetesReleases, s.kubernetes, runtime.GOOS, runtime.GOARCH, name)
	checksum, err := get(ctx, url+".sha256")
	return release{name, url, strings.TrimSpace(string(checksum))}, err
}

// onGitHub finds a file of a release there.
func onGitHub(ctx context.Context, name, repository, version, file string) (release, error) {
	answer, err := get(ctx, fmt.Sprintf("%s/%s/releases/tags/%s", gitHubAPI, repository, version))
	if err != nil {
		return release{}, err
	}
	var about struct {
		Assets []struct {
			Name   string `json:"name"`
			URL    string `json:"browser_download_url"`
			Digest string `json:"digest"`
		} `json:"assets"`
	}
	if err := json.Unmarshal(answer, &about); err != nil {
		return release{}, err
	}
	for _, asset := range about.Assets {
		if checksum, ok := strings.CutPrefix(asset.Digest, "sha256:"); ok && asset.Name == file {
			return release{name, asset.URL, checksum}, nil
		}
	}
	return release{}, fmt.Errorf("%s %s has no %s with a checksum", repository, version, file)
}

// open sends a GET.
func open(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err == nil && response.StatusCode != http.StatusOK {
		response.Body.Close()
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return response, err
}

// get returns an answer, which is small.
func get(ctx context.Context, url string) ([]byte, error) {
	response, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// download writes the program to a file, if the checksum is right.
func (r release) download(ctx context.Context, file string, progress io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("nothing came for %s", stallTimeout)) })
	defer stalled.Stop()
	response, err := open(ctx, r.url)
	if err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	defer response.Body.Close()
	fmt.Fprintf(progress, "downloading %s, %d MB\n", path.Base(r.url), response.ContentLength>>20)
	part := file + ".part"
	written, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(written, hash, resets{stalled}), response.Body)
	if err = errors.Join(context.Cause(ctx), err, written.Close()); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", hash.Sum(nil)); got != r.checksum {
		return fmt.Errorf("its SHA-256 is %s and should be %s", got, r.checksum)
	}
	if strings.HasSuffix(r.url, ".tar.gz") {
		inside := strings.TrimSuffix(path.Base(r.url), ".tar.gz") + "/" + r.name
		return exec.Command("tar", "-xzf", part, "-C", filepath.Dir(file), "--strip-components=1", inside).Run()
	}
	return os.Rename(part, file)
}

// resets puts off the end of a download that goes on.
type resets struct{ stalled *time.Timer }

func (r resets) Write(p []byte) (int, error) {
	r.stalled.Reset(stallTimeout)
	return len(p), nil
}
