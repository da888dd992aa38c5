// Tests of downloads, from a server of the test's own.

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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const program = "#!/bin/sh\necho hello\n"

var (
	system = runtime.GOOS + "-" + runtime.GOARCH
	etcd   = archive("etcd-v3.7.3-" + system)
)

// archive is a release of etcd.
func archive(folder string) []byte {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	for _, name := range []string{"README.md", "etcd", "etcdctl"} {
		_ = files.WriteHeader(&tar.Header{Name: folder + "/" + name, Size: int64(len(program)), Mode: 0o755})
		_, _ = io.WriteString(files, program)
	}
	_ = files.Close()
	_ = zipped.Close()
	return packed.Bytes()
}

func checksum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// releases is a server as the real ones are. Send sends a program.
func releases(t *testing.T, send http.HandlerFunc) *source {
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
	asset("etcd-io/etcd", "v3.7.3", "etcd-v3.7.3-"+system+".tar.gz", etcd)
	asset("kubernetes-sigs/kwok", "v0.8.0", "kwok-"+system, []byte(program))
	kubernetesReleases, gitHubAPI = server.URL+"/release", server.URL+"/repos"
	probe, whole := probeTimeout, downloadTimeout
	t.Cleanup(func() {
		probeTimeout, downloadTimeout = probe, whole
		server.CloseClientConnections()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &source{kubernetes: "v1.37.1", etcd: "v3.7.3", kwok: "v0.8.0"}
}

func whole(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, program) }

func TestDownload(t *testing.T) {
	slow := func(w http.ResponseWriter, _ *http.Request) {
		for _, b := range []byte(program) {
			_, _ = w.Write([]byte{b})
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond) // the server's own pace, not a wait of the test
		}
	}
	for name, send := range map[string]http.HandlerFunc{"good": whole, "slow": slow} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var progress strings.Builder
			names := []string{"kube-apiserver", "etcd", "kwok"}
			must.Do(t, releases(t, send).download(t.Context(), names, folder, &progress))
			for _, name := range names {
				content, err := os.ReadFile(filepath.Join(folder, name))
				info, _ := os.Stat(filepath.Join(folder, name))
				expect.That(t, err == nil && string(content) == program && info.Mode()&0o100 != 0,
					"%s: %q, %v", name, content, err)
			}
			lines := strings.Count(progress.String(), "\n")
			expect.That(t, lines == len(names), "%d lines of progress:\n%s", lines, &progress)
		})
	}
}

func TestDownloadThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		send http.HandlerFunc
		want string
	}{
		"wrong checksum": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "rm -rf /\n") },
			"its SHA-256 is"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, program)
		}, "unexpected EOF"},
		"nothing more comes": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, program)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "context deadline exceeded"},
		"an error page": {http.NotFound, "404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := releases(t, test.send)
			downloadTimeout = 100 * time.Millisecond
			folder := t.TempDir()
			err := s.download(t.Context(), []string{"kube-apiserver"}, folder, io.Discard)
			expect.That(t, err != nil && strings.Contains(err.Error(), test.want), "got %v", err)
			_, err = os.Stat(filepath.Join(folder, "kube-apiserver"))
			expect.That(t, err != nil, "it is used all the same")
		})
	}
}

// Where the network is not to be had, or has nothing for this machine, the probe says so.
func TestProbe(t *testing.T) {
	s := releases(t, whole)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer silent.Close()
	refused := httptest.NewServer(nil)
	refused.Close()
	probeTimeout = 100 * time.Millisecond
	for name, url := range map[string]string{
		"silent": silent.URL, "refused": refused.URL, "not there": kubernetesReleases + "/x",
	} {
		kubernetesReleases = url
		err := s.download(t.Context(), []string{"kube-apiserver"}, t.TempDir(), io.Discard)
		expect.That(t, err != nil && strings.HasPrefix(err.Error(), "no released kube-apiserver"), "%s: %v", name, err)
	}
	err := s.download(t.Context(), []string{"kwokctl"}, t.TempDir(), io.Discard)
	expect.That(t, err != nil && strings.Contains(err.Error(), "has no kwokctl-"+system),
		"a file that the release does not have: %v", err)
}
