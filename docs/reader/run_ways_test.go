// Running steps that serve a web page, that need a cluster, or that are in a module of their own.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/manifest"
)

// X-ray is run until it is stopped, for the sake of its page. The book's command for it has a button.
func TestRunForThePage(t *testing.T) {
	folder := stepsWorkspace(t)
	writeFile(t, folder, "docs/01-queue.md", "# The queue\n\n"+
		"```sh\nscripts/xray.sh # then open it\n```\n\n"+
		"<!-- output docs/xray/testdata/xray.txt -->\n```text\nopen http://ADDRESS/view\n```\n\n"+
		"```sh\ngo run ./01-queue pop -follow\n```\n")
	v := visit(t, folder)
	body := v.get("/docs/01-queue.md", 200)
	wantIn(t, "the page", body, `data-run="docs/xray/testdata/xray.txt" data-page="/view" data-how="follow">`,
		`<button data-do="run">Run and open /view</button>`,
		`data-run="docs/xray/testdata/xray.txt" data-page="/view">`,
		`<button data-do="run" aria-keyshortcuts="r">Run <kbd>r</kbd></button>`)
	if got := strings.Count(body, "data-how="); got != 1 {
		t.Errorf("%d blocks run a step for its page, want 1: pop serves none", got)
	}
	page := v.listen(t)
	v.post("/-/run?transcript=docs/xray/testdata/xray.txt&how=follow", 200)
	want := "-json -follow -addr 127.0.0.1:0 " + v.server.URL() + "/" // for the links of its page to the book
	if got := page.until("note")["text"]; got != want {
		t.Errorf("the step has the flags, and the address of the book, %q, want %q", got, want)
	}
	page.until("over")
}

// A cluster is started on request, and then the step runs.
func TestRunWithACluster(t *testing.T) {
	folder := stepsWorkspace(t)
	writeFile(t, folder, "scripts/local-up.sh",
		"#!/bin/sh\necho it begins\nprintf 'and ends\\n' >&2\ntouch a-cluster\n")
	must.NoError(t, os.Chmod(filepath.Join(folder, "scripts", "local-up.sh"), 0o755))
	v := visit(t, folder)
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/needy.txt", 200)
	if got := page.until("cluster")["state"]; got != "none" {
		t.Errorf("the cluster is %q, want none", got)
	}
	page.until("over")

	page.events = nil
	v.post("/-/run?transcript=01-queue/testdata/needy.txt&cluster=true", 200)
	page.until("over")
	want := "run cluster progress progress cluster build begin end over"
	if got := strings.Join(page.events, " "); got != want {
		t.Errorf("with a cluster, the page got the events %s, want %s", got, want)
	}
	if !v.reader.startedCluster.Load() {
		t.Error("the reader does not know that it has started a cluster, want it to say so at the end")
	}

	writeFile(t, folder, "scripts/local-up.sh", "#!/bin/sh\nexit 7\n")
	page.events = nil
	v.post("/-/run?transcript=01-queue/testdata/needy.txt&cluster=true", 200)
	over := page.until("over")
	wantIn(t, "a cluster that does not start", over["error"].(string), "scripts/local-up.sh: exit status 7")
	if got, want := strings.Join(page.events, " "), "run cluster over"; got != want {
		t.Errorf("without a cluster, the page got the events %s, want %s", got, want)
	}
}

// If it is known that a step needs a cluster, and that there is none, the program is not built.
func TestRunWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	folder := stepsWorkspace(t)
	must.NoError(t, os.RemoveAll(filepath.Join(folder, ".cluster")))
	writeFile(t, folder, manifest.File, manifest.Manifest{
		"01-queue": {{Name: "needy", NeedsCluster: true}, {Name: "pop"}},
	}.String())
	v := visit(t, folder)
	page := v.listen(t)
	for _, try := range []struct{ step, want string }{
		{"needy", "run cluster end over"}, {"pop", "run build begin end over"},
	} {
		page.events = nil
		v.post("/-/run?transcript=01-queue/testdata/"+try.step+".txt", 200)
		page.until("over")
		if got := strings.Join(page.events, " "); got != try.want {
			t.Errorf("%s: the page got the events %s, want %s", try.step, got, try.want)
		}
	}
	writeFile(t, folder, ".cluster/kubeconfig", "{}\n")
	page.events = nil
	v.post("/-/run?transcript=01-queue/testdata/needy.txt", 200)
	page.until("build")
	page.until("over")
}

// A program that is a module outside go.work is built as its page says. What it says itself, while
// it makes its cluster, is progress.
func TestRunOfAModuleOfItsOwn(t *testing.T) {
	folder := stepsWorkspace(t)
	writeFile(t, folder, "01-queue/own/testdata/pop.txt", "<1>\n")
	writeFile(t, folder, "01-queue/own/go.mod", "module example.com/own\n\ngo 1.26.0\n")
	writeFile(t, folder, manifest.File, manifest.Manifest{"01-queue/own": {{Name: "pop", NeedsCluster: true}}}.String())
	writeFile(t, folder, "01-queue/own/main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { stepPop() }\n\n"+
		"func stepPop() {\n\tprintln(\"it begins\")\n\tfmt.Println(`{\"event\":\"end\",\"verdict\":\"ok\"}`)\n}\n")
	v := visit(t, folder)
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/own/testdata/pop.txt", 200)
	if build := page.until("build"); build["takesMinutes"] == nil || build["begun"] == nil {
		t.Errorf("the build is announced as %v, want that it takes minutes, and when it has begun", build)
	}
	if over := page.until("over"); over["error"] != nil {
		t.Errorf("the run is over with the error %q, want none", over["error"])
	}
	if got := strings.Join(page.events, " "); !strings.Contains(got, "progress") {
		t.Errorf("the page got the events %s, want progress in it", got)
	}
}
