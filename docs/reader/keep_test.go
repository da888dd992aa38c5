// What is kept from one start to the next, and the second reader of a clone.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

const front = "/docs/README.md"

// wantNoContinue checks that the front page leads nowhere.
func (v *visitor) wantNoContinue(when string) {
	v.t.Helper()
	if body := v.get(front, 200); strings.Contains(body, "Continue") {
		v.t.Errorf("%s: the front page has Continue, want none:\n%s", when, body)
	}
}

// The place, the theme and the closed tips are there at the next start, whose address is another one.
func TestWhatIsKept(t *testing.T) {
	folder := smallWorkspace(t, true)
	writeFile(t, folder, "docs/02-more.md", "# 02 · More\n\n## Four rules\n")
	v := visit(t, folder)
	v.wantNoContinue("at the first start")
	for query, want := range map[string]string{
		"page=docs/02-more.md&section=four-rules": `<a href="/docs/02-more.md#four-rules">` +
			`Continue: 02, Four rules</a> More<`,
		"page=docs/01-queue.md": `<a href="/docs/01-queue.md">Continue: 01, The queue</a><`,
		"page=docs/reference/words.md&section=queue": `<a href="/docs/reference/words.md#queue">` +
			`Continue: Words, Queue</a><`,
		"page=docs/reference/words.md": `<a href="/docs/reference/words.md">Continue: Words</a><`,
	} {
		v.post("/-/keep?"+query, 200)
		wantIn(t, query, v.get(front, 200), want)
	}
	v.post("/-/keep?page=docs/02-more.md&section=four-rules", 200)
	v.post("/-/keep?theme=dark", 200)
	v.post("/-/keep?tips=closed", 200)

	next := visit(t, folder)
	wantIn(t, "the next start", next.get(front, 200), "Continue: 02, Four rules", `<html lang="en" data-theme="dark">`)
	wantIn(t, "a page", next.get("/docs/01-queue.md", 200), `data-theme="dark"`, ` data-place>`)
	if strings.Contains(next.get("/01-queue/queue.go", 200), "data-place") {
		t.Error("a listing counts as a page that is read")
	}
	next.post("/-/keep?theme=light", 200)
	wantIn(t, "the first reader", v.get(front, 200), `data-theme="light"`, "Continue: 02, Four rules")
	next.post("/-/keep?theme=system", 200)
	if strings.Contains(v.get(front, 200), "data-theme=") {
		t.Error("with the theme of the system, the page names one")
	}

	writeFile(t, folder, "docs/02-more.md", "# 02 · More\n\n## Five rules\n")
	wantIn(t, "a section that is gone", v.get(front, 200), `<a href="/docs/02-more.md">Continue: 02, More</a><`)
	must.NoError(t, os.Remove(filepath.Join(folder, "docs", "02-more.md")))
	v.wantNoContinue("the page is gone")
}

// A file that is broken counts for nothing, and is replaced.
func TestWhatIsKeptIsBroken(t *testing.T) {
	folder := smallWorkspace(t, false)
	v := visit(t, folder)
	for _, text := range []string{
		"", "{", "[]", "null", `{"page":3}`, "\x00\xff", `{"page":"docs/01-queue.md"`, `{"page":"../../etc/passwd"}`,
		`{"page":".reader/kept.json"}`, `{"page":"docs/README.md","theme":"\"><b>"}`, `{"section":"queue"}`,
	} {
		writeFile(t, folder, keptFile, text)
		v.wantNoContinue(fmt.Sprintf("the file is %q", text))
		v.post("/-/keep?page=docs/01-queue.md", 200)
		wantIn(t, "after "+text, v.get(front, 200), "Continue: 01, The queue")
	}
	must.NoError(t, os.RemoveAll(filepath.Join(folder, keptFolder)))
	writeFile(t, folder, keptFile+"/x", "")
	v.wantNoContinue("the file is a folder")
	v.post("/-/keep?page=docs/01-queue.md", 409)
	left, err := filepath.Glob(filepath.Join(folder, keptFolder, "*"))
	must.NoError(t, err)
	if len(left) != 1 {
		t.Errorf("after a write that fails, there is %q, want the folder alone", left)
	}
	must.NoError(t, os.RemoveAll(filepath.Join(folder, keptFolder)))
	outside := t.TempDir()
	must.NoError(t, os.Symlink(outside, filepath.Join(folder, keptFolder)))
	v.post("/-/keep?page=docs/01-queue.md", 409)
	v.wantNoContinue("the folder is a link that leads out of the clone")
}

// Only a page of this server, with the token, keeps anything: a place that exists, or a choice.
func TestWhatIsNotKept(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	for query, status := range map[string]int{
		"page=docs/no-such.md": 404, "page=" + frontPage: 404, "page=": 404, "page=01-queue/queue.go": 404,
		"page=.cluster/kubeconfig": 404, "page=docs/../docs/01-queue.md": 404, "page=docs/01-queue.md&section=x": 404,
		"theme=blue": 400, "theme=light%20dark": 400, "tips=open": 400, "more=x": 400,
		"page=docs/01-queue.md&page=docs/01-queue.md": 400,
	} {
		v.post("/-/keep?"+query, status)
	}
	const place = "/-/keep?page=docs/01-queue.md"
	v.get(place, 405)
	for _, attack := range []map[string]string{
		{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Cookie": ""}, {"Cookie": "reader=x"},
	} {
		if status, _, body := v.send("POST", place, attack); status != 403 {
			t.Errorf("POST %s with %v: got %d %s, want 403", place, attack, status, body)
		}
	}
	if status, _, body := v.send("POST", place, map[string]string{"Host": "evil.example"}); status != 421 {
		t.Errorf("POST %s for another host: got %d %s, want 421", place, status, body)
	}
	v.wantNoContinue("nothing was kept")
}

// Two readers write at the same time, and the file is whole at every moment.
func TestTwoReadersKeep(t *testing.T) {
	folder := smallWorkspace(t, false)
	readers := []*visitor{visit(t, folder), visit(t, folder)}
	readers[0].post("/-/keep?theme=dark", 200)
	var writing sync.WaitGroup
	for i, v := range readers {
		writing.Go(func() {
			for range 20 {
				v.post("/-/keep?page="+[]string{"docs/01-queue.md", "docs/reference/words.md&section=queue"}[i], 200)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		writing.Wait()
		close(ended)
	}()
	for isOver := false; !isOver; {
		select {
		case <-ended:
			isOver = true
		default:
		}
		text, err := os.ReadFile(filepath.Join(folder, keptFile))
		must.NoError(t, err)
		if !json.Valid(text) {
			t.Fatalf("the file is %q, want JSON", text)
		}
	}
	wantIn(t, "the front page", readers[1].get(front, 200), "Continue: ", `data-theme="dark"`)
}

// git does not see what is kept.
func TestWhatIsKeptIsIgnored(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	git := exec.CommandContext(t.Context(), "git", "check-ignore", keptFile, addressFile)
	git.Dir = root
	if output, err := git.CombinedOutput(); err != nil {
		t.Errorf("git check-ignore: %v: %s", err, output)
	}
}

var addressPattern = regexp.MustCompile(`http://127\.0\.0\.1:41\d\d/\?token=\w+`)

// startReading starts the program, and returns the address that it prints first.
func startReading(t *testing.T) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	output, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- read(ctx, []string{"-no-browser"}, printed)
		printed.Close()
	}()
	text := make([]byte, 1000)
	n, err := output.Read(text)
	must.NoError(t, err)
	address = addressPattern.FindString(string(text[:n]))
	if address == "" {
		t.Fatalf("it prints %q, want the address in it", text[:n])
	}
	go io.Copy(io.Discard, output)
	return address, func() {
		cancel()
		must.NoError(t, <-ended)
	}
}

// A second reader of a clone names the first, and ends. When the first has ended, the next one begins.
func TestASecondReader(t *testing.T) {
	folder := smallWorkspace(t, false)
	t.Chdir(folder)
	first, stop := startReading(t)
	link := filepath.Join(t.TempDir(), "link")
	must.NoError(t, os.Symlink(folder, link))
	for _, dir := range []string{filepath.Join(folder, "docs"), link} {
		t.Chdir(dir)
		var output strings.Builder
		must.NoError(t, read(t.Context(), []string{"-no-browser"}, &output))
		wantIn(t, "the second", output.String(), "is shown already, at "+first+"\n")
	}
	info, err := os.Stat(filepath.Join(folder, addressFile))
	must.NoError(t, err)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the mode of the file with the token is %o, want 600", got)
	}
	stop()
	if _, err := os.Stat(filepath.Join(folder, addressFile)); !os.IsNotExist(err) {
		t.Errorf("after the end, the address is still there: %v", err)
	}
	third, stop := startReading(t)
	stop()
	if third == first {
		t.Errorf("the third reader has the address %s of the first", third)
	}
}

// An address that is not the one of a reader of this clone is not followed.
func TestAnOldAddress(t *testing.T) {
	folder, another := smallWorkspace(t, false), smallWorkspace(t, false)
	t.Chdir(another)
	ofAnotherClone, stop := startReading(t)
	defer stop()
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"folder":""}`)
	}))
	defer foreign.Close()
	ended := httptest.NewServer(nil)
	ended.Close()
	clone, err := os.OpenRoot(folder)
	must.NoError(t, err)
	defer clone.Close()
	for _, old := range []string{
		"", "nonsense", "http://%", "http://example.com/?token=x", ofAnotherClone, foreign.URL + "/?token=x",
		ended.URL + "/?token=x", strings.Split(ofAnotherClone, "=")[0] + "=x",
	} {
		writeFile(t, folder, addressFile, old)
		if got := otherReader(t.Context(), clone); got != "" {
			t.Errorf("with the old address %q, it finds %q, want nothing", old, got)
		}
	}
	t.Chdir(folder)
	address, end := startReading(t)
	if got := otherReader(t.Context(), clone); got != address {
		t.Errorf("it finds %q, want the reader at %s", got, address)
	}
	end()
}
