// Requests that are refused: of other hosts, of pages of other servers, without the token, and for
// files that are none of the book's.

package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/web/webtest"
)

func TestAnotherHostIsRefused(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	for _, host := range webtest.ForeignHosts {
		if status, _, body := v.send("GET", "/docs/README.md", map[string]string{"Host": host}); status != 421 {
			t.Errorf("host %s: got %d %s, want 421", host, status, body)
		}
	}
}

func TestAnotherOriginIsRefused(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	for origin, want := range webtest.Origins(v.server.URL()) {
		header := map[string]string{}
		if origin != "" {
			header["Origin"] = origin
		}
		if status, _, body := v.send("GET", "/docs/README.md", header); status != want {
			t.Errorf("origin %q: got %d %s, want %d", origin, status, body, want)
		}
	}
}

// Without the token there is nothing: no page, no file, no script, no answer that differs.
func TestNothingWithoutTheToken(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	long := "reader=" + strings.Repeat("x", 5000)
	for _, cookie := range []string{"", "reader=", v.cookie + "x", "other" + v.cookie, long} {
		for _, target := range []string{
			"/", "/docs/README.md", "/01-queue/queue.go", "/-/files/reader.js", "/-/find?words=queue",
			"/-/events?files=x", "/-/exercises", "/-/clone",
			"/no/such/page",
		} {
			status, _, body := v.send("GET", target, map[string]string{"Cookie": cookie})
			if status != 403 || !strings.Contains(body, wantToken) {
				t.Errorf("GET %s with cookie %.50q: got %d %s, want 403 and where to find the address", target, cookie,
					status, body)
			}
		}
	}
}

// A page may load nothing from elsewhere, and nothing inline.
func TestTheHeaders(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	for _, target := range []string{"/docs/01-queue.md", "/01-queue/queue.go", "/-/files/reader.css"} {
		_, header, body := v.send("GET", target, nil)
		wantIn(t, target, header.Get("Content-Security-Policy"),
			"default-src 'none'", "script-src 'self'", "style-src 'self'")
		for _, refused := range []string{" style=", "<b ", "<style", "<script>", "javascript:"} {
			if strings.Contains(body, refused) {
				t.Errorf("%s has %q, which the policy refuses", target, refused)
			}
		}
		if got := header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q, want no-store, because a file may change", target, got)
		}
	}
}

// Only pages and sources are shown, with git and without it. No link is followed, wherever it leads.
func TestWhatIsNotShown(t *testing.T) {
	for _, withGit := range []bool{true, false} {
		folder := smallWorkspace(t, withGit)
		outside := filepath.Join(t.TempDir(), "outside")
		must.NoError(t, os.WriteFile(outside, []byte("SECRET"), 0o644))
		writeFile(t, folder, ".cluster/secret.md", "SECRET")
		targets := []string{
			"/.git/config", "/.cluster/kubeconfig", "/docs/../.cluster/kubeconfig",
			"/docs/%2e%2e/kubeconfig", "/docs/..%2fkubeconfig", "/docs//kubeconfig", "/etc/passwd", "/docs/no-such.md",
			"/docs/01-queue.md/x", "/docs/README.md%00.md", "/-/files/page.html", "/-/files/..%2fmain.go", "/go.work/x",
			"/docs/folder.md/secret.md", "/.practice/put/.git", "/.practice/put/.env",
			"/.practice/put/01-queue/../../../.env", "/.practice/.env", "/.practice/put/docs/README.md",
			"/.practice/put/01-queue/new.go", "/.practice/put/.practice/put/01-queue/queue.go",
			"/.practice/pop/01-queue/queue.go",
			"/.practice/linked/01-queue/queue.go",
		}
		for _, name := range []string{".git", ".env", "docs/README.md", "01-queue/new.go"} {
			writeFile(t, folder, ".practice/put/"+name, "SECRET")
		}
		writeFile(t, folder, ".practice/.env", "SECRET")
		writeFile(t, folder, ".practice/put/01-queue/queue.go", "package queue\n")
		must.NoError(t, os.MkdirAll(filepath.Join(folder, ".practice/pop/01-queue"), 0o755))
		must.NoError(t, os.Symlink(outside, filepath.Join(folder, ".practice/pop/01-queue/queue.go")))
		must.NoError(t, os.Symlink("put", filepath.Join(folder, ".practice/linked")))
		for name, leadsTo := range map[string]string{
			"docs/link.svg": outside, "01-queue/link.go": outside, "docs/cluster.md": "../.cluster/kubeconfig",
			"docs/env.svg": "../.env", "docs/config.md": "../.git/config", "docs/folder.md": "../.cluster",
			"01-queue/inside.go": "../.env", "docs/page.md": "README.md",
		} {
			must.NoError(t, os.Symlink(leadsTo, filepath.Join(folder, name)))
			targets = append(targets, "/"+name)
		}
		must.NoError(t, syscall.Mkfifo(filepath.Join(folder, "docs", "pipe.md"), 0o644))
		targets = append(targets, "/docs/pipe.md")
		if withGit {
			runGit(t, folder, "add", "01-queue/link.go", "01-queue/inside.go")
			writeFile(t, folder, "docs/ignored.md", "SECRET")
			writeFile(t, folder, "docs/excluded.svg", "SECRET")
			writeFile(t, folder, ".gitignore", "/docs/ignored.md\n")
			writeFile(t, folder, ".git/info/exclude", "excluded.*\n")
			targets = append(targets, "/docs/ignored.md", "/docs/excluded.svg")
		}
		writeFile(t, folder, "docs/new.md", "# New\n")
		v := visit(t, folder)
		for name := range untracked {
			if withGit || name != "01-queue/token.txt" && name != "docs/notes.txt" {
				targets = append(targets, "/"+name)
			}
		}
		for _, target := range targets {
			status, _, body := v.send("GET", target, nil)
			if status != 404 && status != 400 || strings.Contains(body, "SECRET") {
				t.Errorf("git %t: GET %s: got %d %.200s, want 404 or 400", withGit, target, status, body)
			}
		}
		for name := range small {
			v.get("/"+name, 200)
		}
		v.get("/docs/new.md", 200)
		v.get("/.practice/put/01-queue/queue.go", 200)
		v.get("/01-queue", 200)
		v.get("/01-queue/testdata", 200)
	}
}

// A page that is a pipe cannot be read. The page says so, and all others work.
func TestAPageThatIsAPipe(t *testing.T) {
	folder := smallWorkspace(t, true)
	pipe := filepath.Join(folder, "docs", "01-queue.md")
	must.NoError(t, os.Remove(pipe))
	must.NoError(t, syscall.Mkfifo(pipe, 0o644))
	v := visit(t, folder)
	wantIn(t, "the page", v.get("/docs/01-queue.md", 404), "docs/01-queue.md is not a regular file")
	v.get("/docs/README.md", 200)
	v.get("/01-queue/queue.go", 200)
	v.get("/-/find?words=queue", 200)
}

// A file that is too large is not read into memory.
func TestALargeFile(t *testing.T) {
	folder := smallWorkspace(t, true)
	writeFile(t, folder, "docs/large.md", strings.Repeat("x", maxFileBytes+1))
	wantIn(t, "a large file", visit(t, folder).get("/docs/large.md", 404), "more than 1048576 bytes")
}

// Every request that net/http accepts is answered, and never with a 5xx, with a secret, or with a
// redirect to elsewhere.
func FuzzRequests(f *testing.F) {
	v := visit(f, smallWorkspace(f, true))
	webtest.AddRequests(f, "/", "/docs/README.md", "/01-queue/queue.go", "/-/find", "/-/files/reader.js",
		"/-/exercises", "/-/practice", "/-/keep")
	f.Add("POST", "/-/keep?page=docs/01-queue.md&section=%00%ff&theme=dark", "localhost")
	f.Add("POST", "/-/practice?exercise=01-queue/practice/put.md&action=-h", "localhost")
	f.Add("POST", "/-/practice?exercise=%00%ff&action=start", "localhost")
	f.Add("GET", "/-/find?words=%00%ff", "localhost")
	f.Add("GET", "/-/events?files=a,b,c,d,e", "localhost")
	f.Add("GET", "/01-queue/queue.go?show=Pop,,Push", "localhost")
	f.Fuzz(func(t *testing.T, method, target, host string) {
		request := webtest.Request(method, target, host)
		if request == nil {
			return // net/http refuses it
		}
		for _, cookie := range []string{"", v.cookie} {
			if strings.HasPrefix(request.URL.Path, "/-/events") && cookie != "" && request.Method == "GET" {
				continue // it does not end
			}
			request.Header.Set("Cookie", cookie)
			answer := httptest.NewRecorder()
			v.server.Handler().ServeHTTP(answer, request)
			location := answer.Header().Get("Location")
			switch {
			case strings.Contains(answer.Body.String(), "SECRET"):
				t.Errorf("%s %s for %s: the answer has the secret", method, target, host)
			case cookie == "" && answer.Code != 403 && answer.Code != 421 && answer.Code != 400:
				t.Errorf("%s %s for %s without the token: got %d, want 403, 421 or 400",
					method, target, host, answer.Code)
			case answer.Code >= 500, answer.Code >= 300 && answer.Code < 400 && location != "/"+frontPage:
				t.Errorf("%s %s for %s: got %d to %q, want 200, 4xx, or a redirect to the front page", method, target,
					host, answer.Code, location)
			}
		}
	})
}
