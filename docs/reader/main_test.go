// What the tests share: a small workspace, and a browser without a window.

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/web"
)

func TestMain(m *testing.M) {
	must.Program(main)
	// The clock of the regular expressions behind chroma stops by itself, a little later.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// small is a workspace with a few files. Those of untracked are not in git.
var (
	small = map[string]string{
		"go.work":   "go 1.26.0\n",
		"README.md": "# Front\n\nSee [the book](docs/README.md).\n",
		"docs/README.md": "# The book\n\nBegin with [the queue](01-queue.md).\n\n## Reference\n\n" +
			"- [Words](reference/words.md)\n",
		"docs/reference/words.md": "# Words\n\n## Queue\n\nA line.\n",
		"docs/01-queue.md": "# The queue\n\nSee [queue](reference/words.md#queue), [Pop](../01-queue/queue.go), " +
			"[✓](../01-queue/queue_test.go \"TestPop\") " +
			"[✓](../01-queue/queue_test.go \"TestPop/a\"), <b onclick=\"x()\">bold</b> and " +
			"[this](javascript:alert(1)).\n\n" +
			"<!-- code 01-queue/queue.go Pop -->\n```go\nfunc Pop() int { return 1 }\n```\n\n" +
			"<!-- output 01-queue/testdata/pop.txt -->\n```text\n$ go run ./01-queue pop\n<1>\n> more\n```\n\n" +
			"```mermaid\nflowchart LR\n  accDescr: A leads to B.\n  A --> B\n```\n",
		"01-queue/queue.go":         "package queue\n\nfunc Pop() int { return 1 }\n\nfunc Push() {}\n",
		"01-queue/queue_test.go":    "package queue\n\nfunc TestPop(t *testing.T) {}\n",
		"01-queue/testdata/pop.txt": "$ go run ./01-queue pop\n<1>\n> more\n",
	}
	untracked = map[string]string{
		".cluster/kubeconfig": "SECRET", "kubeconfig": "SECRET", "01-queue/token.txt": "SECRET", ".env": "SECRET",
		"docs/.hidden.md": "SECRET", "docs/notes.txt": "SECRET", ".reader/other": "SECRET",
	}
)

func writeFile(t testing.TB, folder, name, text string) {
	t.Helper()
	file := filepath.Join(folder, filepath.FromSlash(name))
	must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// smallWorkspace writes the small workspace into a folder, with git or without it.
func smallWorkspace(t testing.TB, withGit bool) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range small {
		writeFile(t, folder, name, text)
	}
	if withGit {
		runGit(t, folder, "init", "-q")
		runGit(t, folder, "add", "-A")
	}
	for name, text := range untracked {
		writeFile(t, folder, name, text)
	}
	return folder
}

func runGit(t testing.TB, folder string, args ...string) {
	t.Helper()
	git := exec.CommandContext(t.Context(), "git", args...)
	git.Dir = folder
	if output, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, output)
	}
}

// A visitor asks for pages of a reader, with its cookie.
type visitor struct {
	t      testing.TB
	reader *reader
	server *web.Server
	cookie string
}

const wantToken = "open the address that it has printed"

// visit starts a reader for the workspace in a folder.
func visit(t testing.TB, folder string) *visitor {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := newReader(ctx, folder)
	must.NoError(t, err)
	token := web.NewToken("reader", wantToken)
	server, err := web.Start(ctx, "127.0.0.1:0", r.pages(), token.Check)
	must.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		must.NoError(t, server.Wait())
		r.close()
	})
	_, text, _ := strings.Cut(token.Address(""), "=")
	return &visitor{t: t, reader: r, server: server, cookie: "reader=" + text}
}

// client uses a connection for one request only, so that no connection stays open, and follows no
// redirect.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send sends a request with the cookie, and with more headers.
func (v *visitor) send(method, target string, header map[string]string) (status int, got http.Header, body string) {
	v.t.Helper()
	request, err := http.NewRequest(method, v.server.URL()+target, nil)
	must.NoError(v.t, err)
	request.Header.Set("Cookie", v.cookie)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	if host := header["Host"]; host != "" {
		request.Host = host
	}
	response, err := client.Do(request)
	must.NoError(v.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.NoError(v.t, err)
	return response.StatusCode, response.Header, string(text)
}

// get asks for a page, which must answer with this status.
func (v *visitor) get(target string, want int) string {
	v.t.Helper()
	status, _, body := v.send("GET", target, nil)
	if status != want {
		v.t.Errorf("GET %s: got %d %.300s, want %d", target, status, body, want)
	}
	return body
}

// wantIn checks that a text has all these parts.
func wantIn(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: got\n%s\nwant %s in it", what, text, part)
		}
	}
}

// The program answers until Ctrl-C, and then ends without an error.
func TestRead(t *testing.T) {
	t.Chdir(smallWorkspace(t, false))
	address, stop := startReading(t)
	response, err := client.Get(address)
	must.NoError(t, err)
	response.Body.Close()
	if got, want := response.Header.Get("Location"), "/"; response.StatusCode != 303 || got != want {
		t.Errorf("GET %s: got %d to %q, want 303 to %q", address, response.StatusCode, got, want)
	}
	stop()
}

// Where no browser can be opened, the reader has to open the address.
func TestWithoutABrowser(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	for _, script := range []string{"", "#!/bin/sh\nexit 3\n"} {
		for _, name := range []string{"xdg-open", "open"} {
			if script != "" {
				must.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755))
			}
		}
		output, printed := io.Pipe()
		openBrowser("http://127.0.0.1:4100/", printed)
		text := make([]byte, 1000)
		n, err := output.Read(text)
		must.NoError(t, err)
		wantIn(t, "the output", string(text[:n]), "No browser", "open the address")
	}
}

func TestTheCommandLine(t *testing.T) {
	for argument, want := range map[string]string{
		"-h": "", "-no-such-flag": "-no-such-flag", "nonsense": "nonsense",
	} {
		var output bytes.Buffer
		err := read(t.Context(), []string{argument}, &output)
		switch {
		case want == "" && (err != nil || output.String() != usage):
			t.Errorf("%s: error %v, output %q; want the usage", argument, err, output.String())
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want one with %q", argument, err, want)
		}
	}
}
