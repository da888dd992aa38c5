// Downloading released programs, each with its checksum.

package binaries

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Where the releases are. A test has servers of its own.
var (
	kubernetesReleases = "https://dl.k8s.io/release"
	gitHubAPI          = "https://api.github.com/repos"
)

// How long a server may take. A test has times of its own.
var (
	probeTimeout    = 3 * time.Second  // for a checksum; a server that needs longer counts as out of reach
	downloadTimeout = 10 * time.Minute // for a program
)

// A release is a file to download.
type release struct {
	name     string // of the program
	url      string
	checksum string // SHA-256, in hexadecimal
}

// download downloads programs into a folder. It prints why it cannot download some of them, and
// returns their names.
func (s *source) download(ctx context.Context, names []string, folder string,
	progress io.Writer) (missed []string) {
	releases, errs := make([]release, len(names)), make([]error, len(names))
	var questions sync.WaitGroup // at the same time: each may wait for a server that does not answer
	for i, name := range names {
		questions.Go(func() { releases[i], errs[i] = s.findRelease(ctx, name) })
	}
	questions.Wait()
	for i, name := range names {
		err := errs[i]
		if err == nil {
			fmt.Fprintln(progress, "downloading", releases[i].url)
			err = releases[i].download(ctx, filepath.Join(folder, name))
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			fmt.Fprintf(progress, "%s cannot be downloaded: %v\n", name, err)
			missed = append(missed, name)
		}
	}
	return missed
}

// findRelease finds the file of a program, and its checksum.
func (s *source) findRelease(ctx context.Context, name string) (release, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	system, archive := s.os+"-"+s.arch, "tar.gz"
	if s.os != "linux" {
		archive = "zip"
	}
	switch {
	case name == "etcd":
		return findOnGitHub(ctx, name, "etcd-io/etcd", s.etcd, fmt.Sprintf("etcd-%s-%s.%s", s.etcd, system, archive))
	case name == "kwok" || name == "kwokctl":
		return findOnGitHub(ctx, name, "kubernetes-sigs/kwok", s.kwok, name+"-"+system)
	case name != "kubectl" && s.os != "linux":
		// Kubernetes releases these for Linux only. The authors of kwokctl build them for macOS.
		return findOnGitHub(ctx, name, "kwok-ci/k8s", s.kubernetes+"-kwok.0-"+system, name)
	}
	url := fmt.Sprintf("%s/%s/bin/%s/%s/%s", kubernetesReleases, s.kubernetes, s.os, s.arch, name)
	var checksum bytes.Buffer
	err := fetch(ctx, url+".sha256", &checksum)
	return release{name: name, url: url, checksum: strings.TrimSpace(checksum.String())}, err
}

// findOnGitHub finds a file of a release on GitHub.
func findOnGitHub(ctx context.Context, name, repository, version, file string) (release, error) {
	var answer bytes.Buffer
	if err := fetch(ctx, fmt.Sprintf("%s/%s/releases/tags/%s", gitHubAPI, repository, version), &answer); err != nil {
		return release{}, err
	}
	var about struct {
		Assets []struct {
			Name, Digest string
			URL          string `json:"browser_download_url"`
		}
	}
	if err := json.Unmarshal(answer.Bytes(), &about); err != nil {
		return release{}, err
	}
	for _, asset := range about.Assets {
		if checksum, ok := strings.CutPrefix(asset.Digest, "sha256:"); ok && asset.Name == file {
			return release{name: name, url: asset.URL, checksum: checksum}, nil
		}
	}
	return release{}, fmt.Errorf("%s %s has no %s with a checksum", repository, version, file)
}

// fetch gets a URL, and writes the body of the response to w.
func fetch(ctx context.Context, url string, w io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	_, err = io.Copy(w, response.Body)
	return err
}

// download writes the program to a file if its checksum is right. A program that comes in an
// archive is unpacked.
func (r release) download(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	part, err := os.OpenFile(file+".part", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	hash := sha256.New()
	if err := errors.Join(fetch(ctx, r.url, io.MultiWriter(part, hash)), part.Close()); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", hash.Sum(nil)); got != r.checksum {
		return fmt.Errorf("its SHA-256 is %s and should be %s", got, r.checksum)
	}
	archive := path.Base(r.url)
	if topFolder, isTar := strings.CutSuffix(archive, ".tar.gz"); isTar {
		return exec.Command("tar", "-xzf", part.Name(), "-C", filepath.Dir(file), "--strip-components=1",
			topFolder+"/"+r.name).Run()
	}
	if topFolder, isZip := strings.CutSuffix(archive, ".zip"); isZip {
		return unzip(part.Name(), topFolder+"/"+r.name, file)
	}
	return os.Rename(part.Name(), file)
}

// unzip copies a program out of an archive.
func unzip(archive, name, file string) error {
	files, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	program, err := fs.ReadFile(files, name)
	if err := errors.Join(err, files.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, program, 0o755)
}
