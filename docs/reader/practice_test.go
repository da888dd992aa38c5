// Exercises: a small program in the place of the practice tool, and the places of the buttons on
// the real pages.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/yuin/goldmark/ast"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/web/webtest"
	"example.com/informer/scripts/harness/workspace"
)

// tool prints its arguments, and then does what the tests need.
const tool = `package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	if os.Args[1] == "list" {
		fmt.Println("[]")
		return
	}
	fmt.Printf("%q\n", os.Args[1:])
	switch os.Args[1] {
	case "check":
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt)
		fmt.Println("waits")
		<-stop
	case "hint":
		for range 20000 {
			fmt.Println(strings.Repeat("<", 500))
		}
	case "solution":
		fmt.Fprintln(os.Stderr, "practice: the reason")
		os.Exit(1)
	}
}
`

// practiceWorkspace is the small workspace with an exercise, and with the tool.
func practiceWorkspace(t *testing.T) (folder string) {
	t.Helper()
	folder = smallWorkspace(t, false)
	for name, text := range map[string]string{
		"go.work":                            "go 1.26.0\n\nuse ./scripts/harness\n",
		"scripts/harness/go.mod":             "module example.com/harness\n\ngo 1.26.0\n",
		practiceFolder + "/main.go":          tool,
		"01-queue/practice/put.md":           "# Put\n\nWrite [it](../queue.go).\n\n## Check\n\nRun it.\n",
		"01-queue/practice/answers/put.md":   "# Put\n",
		"01-queue/practice/no-answer.md":     "# None\n",
		"01-queue/practice/answers/none.txt": "none\n",
		"docs/01-queue.md": "# The queue\n\nStop. `scripts/practice.sh start put`: " +
			"[try](../01-queue/practice/put.md), and [not this](../01-queue/practice/no-answer.md).\n\n" +
			"See [put](../01-queue/practice/put.md).\n",
	} {
		writeFile(t, folder, name, text)
	}
	return folder
}

const putPage = "01-queue/practice/put.md"

func TestTheActionsOfAnExercise(t *testing.T) {
	v := visit(t, practiceWorkspace(t))
	page := v.listen(t)
	for action, verdict := range map[string]string{"start": "ok", "reset": "ok", "keep": "ok", "solution": "failed"} {
		v.post("/-/practice?exercise="+putPage+"&action="+action, 200)
		if got := page.until("build")["action"]; got != action {
			t.Errorf("the action is %q, want %q", got, action)
		}
		want := fmt.Sprintf(`["%s" "put"]`, action)
		if got := page.until("progress")["text"]; got != want {
			t.Errorf("the tool gets %s, want %s", got, want)
		}
		if action == "solution" {
			wantIn(t, "an error", page.until("progress")["text"].(string), "practice: the reason")
		}
		if got := page.until("end")["verdict"]; got != verdict {
			t.Errorf("the verdict of %s is %q, want %q", action, got, verdict)
		}
		if over := page.until("over"); over["error"] != nil {
			t.Errorf("%s is over with the error %q, want none", action, over["error"])
		}
	}
	v.post("/-/practice?exercise="+putPage+"&action=hint", 200)
	wantIn(t, "a flood", page.until("warning")["text"].(string), "too much")
	if kind := page.until("end")["verdict"]; kind != "ok" {
		t.Errorf("the verdict of a flood is %q, want ok", kind)
	}
}

const building = `{"building":true}`

// exercises asks for the exercises until the tool is built.
func (v *visitor) exercises(want int) (body string) {
	v.t.Helper()
	status := 0
	must.Until(v.t, "the practice tool is built", func() bool {
		status, _, body = v.send("GET", "/-/exercises", nil)
		return body != building
	})
	if status != want {
		v.t.Errorf("GET /-/exercises: got %d %s, want %d", status, body, want)
	}
	return body
}

// No request waits for the compiler. Meanwhile, the answer says so.
func TestThePracticeToolIsBuilt(t *testing.T) {
	realGo, err := exec.LookPath("go")
	must.NoError(t, err)
	folder, bin := practiceWorkspace(t), t.TempDir()
	gate := filepath.Join(bin, "gate")
	must.NoError(t, syscall.Mkfifo(gate, 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(bin, "go"),
		fmt.Appendf(nil, "#!/bin/sh\nread -r _ <'%s'\nexec '%s' \"$@\"\n", gate, realGo), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	writeFile(t, folder, practiceFolder+"/main.go", "package main\n\nfunc main() { wrong }\n")
	v := visit(t, folder)
	for range 2 {
		if got := v.get("/-/exercises", 200); got != building {
			t.Errorf("while the tool is built: got %s, want %s", got, building)
		}
	}
	goOn := func() { must.NoError(t, os.WriteFile(gate, []byte("\n"), 0o600)) }
	goOn()
	wantIn(t, "an error of the compiler", v.exercises(409), practiceFolder+" does not compile", "undefined: wrong")

	writeFile(t, folder, practiceFolder+"/main.go", tool)
	page := v.listen(t)
	v.post("/-/practice?exercise="+putPage+"&action=start", 200)
	page.until("build")
	v.post("/-/stop", 200)
	page.until("over")
	goOn()
	if got, want := v.exercises(200), "[]"; got != want {
		t.Errorf("the exercises are %s, want %s", got, want)
	}
}

// A check that hangs can be stopped. Meanwhile nothing else runs.
func TestACheckIsStopped(t *testing.T) {
	v := visit(t, practiceWorkspace(t))
	page := v.listen(t)
	v.post("/-/practice?exercise="+putPage+"&action=check", 200)
	page.until("progress")
	page.until("progress") // it waits
	wantIn(t, "another", v.post("/-/practice?exercise="+putPage+"&action=reset", 409), "put.md is running")
	v.post("/-/stop", 200)
	if got := page.until("end")["verdict"]; got != "stopped" {
		t.Errorf("the verdict is %q, want stopped", got)
	}
	page.until("over")
}

// The browser can send an exercise that exists, and one of the actions, and nothing else.
func TestWhatIsNotPractised(t *testing.T) {
	v := visit(t, practiceWorkspace(t))
	for _, query := range []string{
		"", "exercise=" + putPage, "action=start", "exercise=put&action=start", "exercise=01&action=start",
		"exercise=01-queue&action=start", "exercise=01-queue/practice/answers/put.md&action=start",
		"exercise=01-queue/practice/no-answer.md&action=start", "exercise=01-queue/practice/-h.md&action=start",
		"exercise=01-queue/practice/../practice/put.md&action=start", "exercise=/" + putPage + "&action=start",
		"exercise=" + putPage + "%00&action=start", "exercise=" + putPage + "%20-x&action=start",
		"exercise=" + putPage + "%0a&action=start", "exercise=docs/01-queue.md&action=start",
		"exercise=" + putPage + "&action=mine", "exercise=" + putPage + "&action=watch",
		"exercise=" + putPage + "&action=list", "exercise=" + putPage + "&action=-h",
		"exercise=" + putPage + "&action=Start", "exercise=" + putPage + "&action=start%20put",
	} {
		v.post("/-/practice?"+query, 404)
	}
	v.post("/-/practice?exercise="+putPage+"&action=start&argument=-x", 400)
	v.post("/-/practice?exercise="+putPage+"&action=start&action=reset", 400)
	const start = "/-/practice?exercise=" + putPage + "&action=start"
	v.get(start, 405)
	for _, attack := range []map[string]string{
		{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Cookie": ""}, {"Cookie": "reader=x"},
	} {
		if status, _, body := v.send("POST", start, attack); status != 403 {
			t.Errorf("POST %s with %v: got %d %s, want 403", start, attack, status, body)
		}
	}
	for _, host := range webtest.ForeignHosts {
		if status, _, body := v.send("POST", start, map[string]string{"Host": host}); status != 421 {
			t.Errorf("POST %s for %s: got %d %s, want 421", start, host, status, body)
		}
	}
	if played, _ := v.reader.stage.current(); played != nil {
		t.Errorf("%s was run", played.transcript)
	}
}

// A place for the buttons is on the page of an exercise, and below a paragraph that says how to
// start the exercise.
func TestThePlacesOfTheButtons(t *testing.T) {
	v := visit(t, practiceWorkspace(t))
	const place = `<figure class="block exercise" data-hash="exercise" data-exercise="` + putPage + `">`
	for _, name := range []string{putPage, "docs/01-queue.md"} {
		body := v.get("/"+name, 200)
		if got := strings.Count(body, `data-exercise=`); got != 1 {
			t.Errorf("%s has %d places for buttons, want 1", name, got)
		}
		wantIn(t, name, body, place, `<button data-practice="start" hidden>Start</button>`)
	}
	before, after, _ := strings.Cut(v.get("/"+putPage, 200), place)
	wantIn(t, "above the buttons", before, "Write <a")
	wantIn(t, "below the buttons", after, `<h2 id="check">`)
	wantIn(t, "the page of the exercise", before, `An exercise of <a href="/docs/01-queue.md">The queue</a>`,
		`<a href="/docs/01-queue.md" class="chapter">`)
	_, after, _ = strings.Cut(v.get("/docs/01-queue.md", 200), place)
	box, _, _ := strings.Cut(after, "</figure>")
	wantIn(t, "the text above the box, which has Start", v.get("/docs/01-queue.md", 200),
		"<p>Stop. <code>put</code>: <a")
	wantIn(t, "the box on another page", box, `<summary>The task: Put</summary>`,
		`<p>Write <a href="/01-queue/queue.go" class="source">it</a>.</p>`)
	if strings.Contains(box, "Run it.") {
		t.Errorf("the task goes on below its section Check:\n%s", box)
	}
}

// In the folder of an exercise, the marked lines are those that differ from its start.
func TestTheFolderOfAnExercise(t *testing.T) {
	folder := smallWorkspace(t, true)
	runGit(t, folder, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "-m", "x")
	runGit(t, folder, "worktree", "add", "--quiet", "--detach", ".practice/put")
	const file = ".practice/put/01-queue/queue.go"
	writeFile(t, folder, file, small["01-queue/queue.go"]+"\nfunc mine() {}\n")
	v := visit(t, folder)
	body := v.get("/"+file+"?show=mine", 200)
	wantIn(t, "the file", body, file, `<span class="line yours marked">`)
	if strings.Contains(v.get("/01-queue/queue.go", 200), `class="line yours`) {
		t.Error("the file of the clone has marks, want none")
	}
	before := v.reader.version(file)
	writeFile(t, folder, file, "package queue\n")
	if now := v.reader.version(file); now == before {
		t.Error("the version of the file is as before the change, want another one")
	}
}

var startOf = regexp.MustCompile("`scripts/practice.sh start ([a-z-]+)`")

// The real tool lists each exercise. Wherever a page says how to start one, its buttons are.
func TestTheExercisesOfTheBook(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	v := visit(t, root)
	var exercises []struct {
		Name, Page, Kind, State string
		Places                  []struct{ File string }
	}
	must.NoError(t, json.Unmarshal([]byte(v.exercises(200)), &exercises))
	pages := map[string]string{}
	for _, e := range exercises {
		if name, ok := v.reader.findExercise(e.Page); !ok || name != e.Name || e.Kind != "write" && e.Kind != "fix" {
			t.Errorf("the page of %+v has the exercise %q", e, name)
		}
		if len(e.Places) == 0 || !v.reader.hasFile(e.Places[0].File) {
			t.Errorf("%s has no file: %v", e.Name, e.Places)
		}
		pages[e.Name] = e.Page
	}
	if len(exercises) == 0 {
		t.Error("there are no exercises")
	}
	names, err := book.PageNames(os.DirFS(root))
	must.NoError(t, err)
	for _, name := range names {
		text, err := v.reader.read(name)
		must.NoError(t, err)
		tree, has := markdown.Parse(text), map[string]bool{}
		v.reader.addExercises(name, tree, text)
		_ = ast.Walk(tree, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
			if exercise, ok := n.(*exerciseNode); ok {
				has[exercise.page] = true
			}
			return ast.WalkContinue, nil
		})
		for _, match := range startOf.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(name, "docs/") && !has[pages[match[1]]] {
				t.Errorf("%s has no buttons for %s", name, match[0])
			}
		}
	}
}
