// Tests of downloads, from a server that the test starts.

package binaries

import (
	"archive/tar"
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
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const program = "#!/bin/sh\necho hello\n"

const system = runtime.GOOS + "-" + runtime.GOARCH

// etcdArchive returns the archive of a release of etcd, whose files are in a folder.
func etcdArchive(t *testing.T, folder string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	for _, name := range []string{"README.md", "etcd", "etcdctl"} {
		header := &tar.Header{Name: folder + "/" + name, Size: int64(len(program)), Mode: 0o755}
		must.NoError(t, files.WriteHeader(header))
		_, err := io.WriteString(files, program)
		must.NoError(t, err)
	}
	must.NoError(t, files.Close())
	must.NoError(t, zipped.Close())
	return archive.Bytes()
}

func checksum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// newReleases starts a server that answers as the real ones do, and returns a source for it. The
// handler send sends kube-apiserver.
func newReleases(t *testing.T, send http.HandlerFunc) *source {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	kube := fmt.Sprintf("/release/v1.37.1/bin/%s/%s/kube-apiserver", runtime.GOOS, runtime.GOARCH)
	mux.HandleFunc(kube, send)
	mux.HandleFunc(kube+".sha256", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, checksum([]byte(program)))
	})
	asset := func(repository, version, name string, content []byte) {
		mux.HandleFunc("/repos/"+repository+"/releases/tags/"+version, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"assets": [{"name": "other"},
				{"name": %q, "browser_download_url": %q, "digest": "sha256:%s"}]}`,
				name, server.URL+"/files/"+name, checksum(content))
		})
		mux.HandleFunc("/files/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	}
	asset("etcd-io/etcd", "v3.7.3", "etcd-v3.7.3-"+system+".tar.gz", etcdArchive(t, "etcd-v3.7.3-"+system))
	asset("kubernetes-sigs/kwok", "v0.8.0", "kwok-"+system, []byte(program))
	kubernetesReleases, gitHubAPI = server.URL+"/release", server.URL+"/repos"
	oldProbe, oldDownload := probeTimeout, downloadTimeout
	t.Cleanup(func() {
		probeTimeout, downloadTimeout = oldProbe, oldDownload
		server.CloseClientConnections()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &source{kubernetes: "v1.37.1", etcd: "v3.7.3", kwok: "v0.8.0"}
}

// sendWhole sends the whole program.
func sendWhole(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, program) }

// sendSlowly sends the program byte by byte.
func sendSlowly(w http.ResponseWriter, _ *http.Request) {
	for _, b := range []byte(program) {
		_, _ = w.Write([]byte{b})
		w.(http.Flusher).Flush()
		time.Sleep(2 * time.Millisecond) // the server's speed, not a wait of the test
	}
}

func TestDownload(t *testing.T) {
	for name, send := range map[string]http.HandlerFunc{"good": sendWhole, "slow": sendSlowly} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var progress strings.Builder
			names := []string{"kube-apiserver", "etcd", "kwok"}
			must.NoError(t, newReleases(t, send).download(t.Context(), names, folder, &progress))
			for _, name := range names {
				file := filepath.Join(folder, name)
				content, err := os.ReadFile(file)
				must.NoError(t, err)
				if string(content) != program {
					t.Errorf("%s contains %q, want %q", name, content, program)
				}
				info, err := os.Stat(file)
				must.NoError(t, err)
				if info.Mode()&0o100 == 0 {
					t.Errorf("%s has mode %v, want a program that its owner can execute", name, info.Mode())
				}
			}
			if lines := strings.Count(progress.String(), "\n"); lines != len(names) {
				t.Errorf("got %d lines of progress, want %d:\n%s", lines, len(names), &progress)
			}
		})
	}
}

func TestDownloadThatFails(t *testing.T) {
	sendOther := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "rm -rf /\n") }
	breakOff := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = io.WriteString(w, program)
	}
	stall := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = io.WriteString(w, program)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, test := range map[string]struct {
		send http.HandlerFunc
		want string
	}{
		"wrong checksum":     {send: sendOther, want: "its SHA-256 is"},
		"broken off":         {send: breakOff, want: "unexpected EOF"},
		"nothing more comes": {send: stall, want: "context deadline exceeded"},
		"an error page":      {send: http.NotFound, want: "404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newReleases(t, test.send)
			downloadTimeout = 100 * time.Millisecond
			folder := t.TempDir()
			wantError(t, s.download(t.Context(), []string{"kube-apiserver"}, folder, io.Discard), test.want)
			if _, err := os.Stat(filepath.Join(folder, "kube-apiserver")); !os.IsNotExist(err) {
				t.Errorf("stat of the program: error %v, want %v", err, os.ErrNotExist)
			}
		})
	}
}

// A program has no release if the server is out of reach, or if it has no file for this system.
func TestNoRelease(t *testing.T) {
	s := newReleases(t, sendWhole)
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
			err := s.download(t.Context(), []string{"kube-apiserver"}, t.TempDir(), io.Discard)
			wantError(t, err, "no released kube-apiserver")
		})
	}
	t.Run("a release on GitHub without the file", func(t *testing.T) {
		err := s.download(t.Context(), []string{"kwokctl"}, t.TempDir(), io.Discard)
		wantError(t, err, "has no kwokctl-"+system)
	})
}
