// Tests of downloads, from a server that the test starts.

package binaries

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A system is what programs are released for.
type system struct{ os, arch string }

func (s system) String() string { return s.os + "-" + s.arch }

var (
	systems = []system{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}
	here    = system{runtime.GOOS, runtime.GOARCH}
)

// program returns what stands for a program of this system.
func (s system) program(name string) string {
	return fmt.Sprintf("#!/bin/sh\necho %s for %s\n", name, s)
}

// etcdArchive returns the name and the content of the archive of etcd. Its files are in a folder.
func (s system) etcdArchive(t *testing.T) (name string, content []byte) {
	t.Helper()
	folder := "etcd-v3.7.3-" + s.String()
	files := []string{"README.md", "etcd", "etcdctl"}
	var archive bytes.Buffer
	if s.os != "linux" {
		zipped := zip.NewWriter(&archive)
		for _, file := range files {
			w, err := zipped.Create(folder + "/" + file)
			must.NoError(t, err)
			_, err = io.WriteString(w, s.program(file))
			must.NoError(t, err)
		}
		must.NoError(t, zipped.Close())
		return folder + ".zip", archive.Bytes()
	}
	zipped := gzip.NewWriter(&archive)
	tarred := tar.NewWriter(zipped)
	for _, file := range files {
		header := &tar.Header{Name: folder + "/" + file, Size: int64(len(s.program(file))), Mode: 0o755}
		must.NoError(t, tarred.WriteHeader(header))
		_, err := io.WriteString(tarred, s.program(file))
		must.NoError(t, err)
	}
	must.NoError(t, tarred.Close())
	must.NoError(t, zipped.Close())
	return folder + ".tar.gz", archive.Bytes()
}

func checksum(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

// A sender answers the request for a program.
type sender func(w http.ResponseWriter, r *http.Request, program string)

// newReleases starts a server that has what the real ones have for each system, and returns a
// source for one of the systems. send sends kube-apiserver.
func newReleases(t *testing.T, s system, send sender) *source {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	file := func(path, content string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(path, "/kube-apiserver") {
				send(w, r, content)
				return
			}
			_, _ = io.WriteString(w, content)
		})
	}
	assets := map[string][]string{} // of the releases on GitHub, by repository and version
	asset := func(repository, version, name, content string) {
		path := fmt.Sprintf("/%s/releases/download/%s/%s", repository, version, name)
		file(path, content)
		about := fmt.Sprintf(`{"name": %q, "browser_download_url": %q, "digest": "sha256:%s"}`,
			name, server.URL+path, checksum(content))
		release := "/repos/" + repository + "/releases/tags/" + version
		assets[release] = append(assets[release], about)
	}
	servers := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	for _, s := range systems {
		released := []string{"kubectl"}
		if s.os == "linux" {
			released = append(released, servers...)
		} else {
			for _, name := range append(servers, "kubectl") {
				asset("kwok-ci/k8s", "v1.37.1-kwok.0-"+s.String(), name, s.program(name))
			}
		}
		for _, name := range released {
			path := fmt.Sprintf("/release/v1.37.1/bin/%s/%s/%s", s.os, s.arch, name)
			file(path, s.program(name))
			file(path+".sha256", checksum(s.program(name))+"\n")
		}
		archive, content := s.etcdArchive(t)
		asset("etcd-io/etcd", "v3.7.3", archive, string(content))
		for _, name := range []string{"kwok", "kwokctl"} {
			asset("kubernetes-sigs/kwok", "v0.8.0", name+"-"+s.String(), s.program(name))
		}
	}
	for release, list := range assets {
		file(release, `{"assets": [{"name": "other"}, `+strings.Join(list, ", ")+"]}")
	}
	kubernetesReleases, gitHubAPI = server.URL+"/release", server.URL+"/repos"
	oldProbe, oldDownload := probeTimeout, downloadTimeout
	t.Cleanup(func() {
		probeTimeout, downloadTimeout = oldProbe, oldDownload
		server.CloseClientConnections()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &source{kubernetes: "v1.37.1", etcd: "v3.7.3", kwok: "v0.8.0", os: s.os, arch: s.arch}
}

func sendWhole(w http.ResponseWriter, _ *http.Request, program string) {
	_, _ = io.WriteString(w, program)
}

// sendSlowly sends the program byte by byte.
func sendSlowly(w http.ResponseWriter, _ *http.Request, program string) {
	for _, b := range []byte(program) {
		_, _ = w.Write([]byte{b})
		w.(http.Flusher).Flush()
		time.Sleep(2 * time.Millisecond) // the server's speed, not a wait of the test
	}
}

// refuse sends an error page.
func refuse(w http.ResponseWriter, r *http.Request, _ string) { http.NotFound(w, r) }

// All programs of a cluster can be downloaded on Linux and on macOS.
func TestDownload(t *testing.T) {
	names := append(slices.Clone(ControlPlane), "kubectl")
	for _, s := range systems {
		t.Run(s.String(), func(t *testing.T) {
			folder := t.TempDir()
			var progress strings.Builder
			missed := newReleases(t, s, sendSlowly).download(t.Context(), names, folder, &progress)
			if len(missed) > 0 {
				t.Errorf("download() has missed %q, want none; progress:\n%s", missed, &progress)
			}
			for _, name := range names {
				wantProgram(t, filepath.Join(folder, name), s.program(name))
			}
			if lines := strings.Count(progress.String(), "\n"); lines != len(names) {
				t.Errorf("got %d lines of progress, want %d:\n%s", lines, len(names), &progress)
			}
		})
	}
}

func wantProgram(t *testing.T, file, want string) {
	t.Helper()
	content, err := os.ReadFile(file)
	must.NoError(t, err)
	if string(content) != want {
		t.Errorf("%s contains %q, want %q", file, content, want)
	}
	info, err := os.Stat(file)
	must.NoError(t, err)
	if info.Mode()&0o100 == 0 {
		t.Errorf("%s has mode %v, want a program that its owner can execute", file, info.Mode())
	}
}

// A program that cannot be downloaded is built, and no other one.
func TestOneMissBuildsOneProgram(t *testing.T) {
	installGo(t, goScript)
	newReleases(t, here, refuse)
	var progress strings.Builder
	folder, err := Get(t.Context(), Options{Progress: &progress}, "kube-apiserver", "kwok", "kubectl")
	must.NoError(t, err)
	for _, want := range []string{"kube-apiserver cannot be downloaded", "building kube-apiserver from Go modules"} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("progress lacks %q:\n%s", want, &progress)
		}
	}
	wantProgram(t, filepath.Join(folder, "kube-apiserver"), "built\n")
	wantProgram(t, filepath.Join(folder, "kwok"), here.program("kwok"))
	wantProgram(t, filepath.Join(folder, "kubectl"), here.program("kubectl"))
}

func TestDownloadThatFails(t *testing.T) {
	sendOther := func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = io.WriteString(w, "rm -rf /\n") }
	breakOff := func(w http.ResponseWriter, _ *http.Request, program string) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = io.WriteString(w, program)
	}
	stall := func(w http.ResponseWriter, r *http.Request, program string) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = io.WriteString(w, program)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, test := range map[string]struct {
		send sender
		want string
	}{
		"wrong checksum":     {send: sendOther, want: "its SHA-256 is"},
		"broken off":         {send: breakOff, want: "unexpected EOF"},
		"nothing more comes": {send: stall, want: "context deadline exceeded"},
		"an error page":      {send: refuse, want: "404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newReleases(t, here, test.send)
			downloadTimeout = 100 * time.Millisecond
			folder := t.TempDir()
			wantMissed(t, s, "kube-apiserver", folder, test.want)
			if _, err := os.Stat(filepath.Join(folder, "kube-apiserver")); !os.IsNotExist(err) {
				t.Errorf("stat of the program: error %v, want %v", err, os.ErrNotExist)
			}
		})
	}
}

// A program has no release if the server is out of reach, or if it has no file for this system.
func TestNoRelease(t *testing.T) {
	s := newReleases(t, here, sendWhole)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer silent.Close()
	refusing := httptest.NewServer(nil)
	refusing.Close()
	probeTimeout = 100 * time.Millisecond
	for name, url := range map[string]string{
		"a server that does not answer":  silent.URL,
		"a server that refuses":          refusing.URL,
		"a server that has no such file": kubernetesReleases + "/x",
	} {
		t.Run(name, func(t *testing.T) {
			kubernetesReleases = url
			wantMissed(t, s, "kubectl", t.TempDir(), "kubectl cannot be downloaded")
		})
	}
	t.Run("a release on GitHub without the file", func(t *testing.T) {
		s.arch = "none"
		wantMissed(t, s, "kwokctl", t.TempDir(), "has no kwokctl-"+here.os+"-none")
	})
}

// wantMissed wants a program that cannot be downloaded, and a line of progress that says why.
func wantMissed(t *testing.T, s *source, name, folder, why string) {
	t.Helper()
	var progress strings.Builder
	missed := s.download(t.Context(), []string{name}, folder, &progress)
	if !slices.Equal(missed, []string{name}) || !strings.Contains(progress.String(), why) {
		t.Errorf("download() has missed %q, want %s; progress:\n%s\nwant %q in it", missed, name, &progress, why)
	}
}
