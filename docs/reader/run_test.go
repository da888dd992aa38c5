// Running steps: a small program in the place of a chapter's.

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/manifest"
)

// player is a program whose steps report what the tests need.
const player = `package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	fmt.Println(` + "`" + `{"event":"begin","step":"` + "` + os.Args[1] + `" + `"}` + "`" + `)
	switch os.Args[1] {
	case "pop":
	case "wait":
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt)
		os.WriteFile("waits", nil, 0o644)
		fmt.Println(` + "`" + `{"event":"line","n":1,"text":"<waits>"}` + "`" + `)
		<-stop
		os.WriteFile("cleaned-up", nil, 0o644)
		fmt.Println(` + "`" + `{"event":"end","verdict":"stopped"}` + "`" + `)
		os.Exit(130)
	case "pause":
		if strings.Join(os.Args[2:], " ") != "-json -pause" {
			panic(os.Args)
		}
		fmt.Println(` + "`" + `{"event":"wait","for":"enter"}` + "`" + `)
		bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Println(` + "`" + `{"event":"line","n":1,"text":"goes on"}` + "`" + `)
	case "much":
		fmt.Print(strings.Repeat("x", 9<<20))
		for range 5000 {
			fmt.Printf("{\"event\":\"line\",\"text\":%q}\n", strings.Repeat("x", 1000))
			fmt.Println(strings.Repeat("x", 1000))
		}
		os.WriteFile("cleaned-up", nil, 0o644)
	case "debug":
		fmt.Println("a <debug> line")
		fmt.Print("half a line")
		fmt.Println(` + "`" + `{"event":"line","n":1,"text":"goes on"}` + "`" + `)
		fmt.Println(` + "`" + `{"kind":"Pod"}` + "`" + `)
	case "leaves":
		fmt.Print("why")
		os.Exit(0)
	case "logs":
		fmt.Fprintln(os.Stderr, "E0101 <a line of a log>")
	case "crash":
		panic("the reason")
	case "xray":
		all := strings.Join(append(os.Args[2:], os.Getenv("READING_ROOM")), " ")
		fmt.Println(` + "`" + `{"event":"note","text":"` + "` + all + `" + `"}` + "`" + `)
	case "needy":
		if _, err := os.Stat("a-cluster"); err != nil {
			fmt.Println(` + "`" + `{"event":"cluster","state":"none","text":"scripts/local-up.sh"}` + "`" + `)
		}
	}
	fmt.Println(` + "`" + `{"event":"end","verdict":"ok"}` + "`" + `)
}
`

// stepsWorkspace is the small workspace with the program.
func stepsWorkspace(t *testing.T) (folder string) {
	t.Helper()
	folder = smallWorkspace(t, false)
	writeFile(t, folder, "go.work", "go 1.26.0\n\nuse (\n./01-queue\n./docs\n)\n")
	writeFile(t, folder, "01-queue/go.mod", "module example.com/queue\n\ngo 1.26.0\n")
	writeFile(t, folder, "01-queue/queue.go", "package main\n\nfunc Pop() int { return 1 }\n")
	writeFile(t, folder, "01-queue/queue_test.go", "package main\n")
	writeFile(t, folder, "01-queue/main.go", player)
	var steps []manifest.Step
	for _, name := range []string{"pop", "wait", "pause", "much", "crash", "needy", "logs", "debug", "leaves"} {
		steps = append(steps, manifest.Step{Name: name, HasCommands: true})
		writeFile(t, folder, "01-queue/testdata/"+name+".txt", "$ go run ./01-queue pop\n<1>\n> more\n")
	}
	writeFile(t, folder, "docs/go.mod", "module example.com/docs\n\ngo 1.26.0\n")
	writeFile(t, folder, "docs/xray/main.go", player)
	writeFile(t, folder, "docs/xray/testdata/xray.txt", "open http://ADDRESS/view\n")
	writeFile(t, folder, manifest.File, manifest.Manifest{"01-queue": steps, "docs/xray": {{Name: "xray"}}}.String())
	return folder
}

func (v *visitor) post(target string, want int) (body string) {
	v.t.Helper()
	status, _, body := v.send("POST", target, nil)
	if status != want {
		v.t.Errorf("POST %s: got %d %s, want %d", target, status, body, want)
	}
	return body
}

// An eventReader reads the events for a page.
type eventReader struct {
	t      *testing.T
	lines  *bufio.Scanner
	events []string // all that were read
}

func (v *visitor) listen(t *testing.T) *eventReader {
	t.Helper()
	return v.listenTo(t, "files=docs/01-queue.md")
}

// listenTo reads the events for a page that asks for them with this query.
func (v *visitor) listenTo(t *testing.T, query string) *eventReader {
	t.Helper()
	address := v.server.URL() + "/-/events?" + query
	request, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	must.NoError(t, err)
	request.Header.Set("Cookie", v.cookie)
	response, err := client.Do(request)
	must.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 2<<20)
	e := &eventReader{t: t, lines: lines}
	e.until("watching")
	return e
}

// until reads until an event of this kind, and returns it.
func (e *eventReader) until(kind string) (event map[string]any) {
	e.t.Helper()
	for e.lines.Scan() {
		text, ok := strings.CutPrefix(e.lines.Text(), "data: ")
		if !ok {
			continue
		}
		event = map[string]any{}
		must.NoError(e.t, json.Unmarshal([]byte(text), &event))
		e.events = append(e.events, event["event"].(string))
		if event["event"] == kind {
			return event
		}
	}
	last := e.events[max(0, len(e.events)-20):]
	e.t.Fatalf("the stream has ended without the event %q: %v, after %q", kind, e.lines.Err(), last)
	return nil
}

// Two pages get the same events, and a page that comes later gets all of them, too.
func TestRun(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	pages := []*eventReader{v.listen(t), v.listen(t)}
	v.post("/-/run?transcript=01-queue/testdata/pop.txt", 200)
	for _, page := range pages {
		page.until("over")
	}
	pages = append(pages, v.listen(t))
	pages[2].until("over")
	for i, page := range pages {
		if got, want := strings.Join(page.events, " "), "watching run build begin end over"; got != want {
			t.Errorf("page %d got the events %s, want %s", i, got, want)
		}
	}
	wantIn(t, "the page", v.get("/docs/01-queue.md", 200), `data-run="01-queue/testdata/pop.txt"`,
		`<button data-do="run" aria-keyshortcuts="r">Run <kbd>r</kbd></button>`)
}

// Step is offered where a step gets commands while it runs, and nowhere else.
func TestStepIsOffered(t *testing.T) {
	folder := stepsWorkspace(t)
	v := visit(t, folder)
	const button = `<button data-do="step" aria-keyshortcuts="s">Step</button>`
	for _, want := range []bool{true, false} {
		writeFile(t, folder, manifest.File, manifest.Manifest{"01-queue": {{Name: "pop", HasCommands: want}}}.String())
		if got := strings.Contains(v.get("/docs/01-queue.md", 200), button); got != want {
			t.Errorf("Step is offered: %t, want %t", got, want)
		}
	}
}

// A step that hangs can be stopped. Meanwhile there is no other.
func TestStop(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/wait.txt", 200)
	if got := page.until("line")["text"]; got != "<waits>" {
		t.Errorf("the line is %q, want <waits>", got)
	}
	wantIn(t, "a second run", v.post("/-/run?transcript=01-queue/testdata/pop.txt", 409), "wait.txt is running")
	again := v.post("/-/run?transcript=01-queue/testdata/pop.txt&cluster=true", 409)
	wantIn(t, "a cluster", again, "wait.txt is running")
	v.post("/-/next", 409)
	v.post("/-/stop", 200)
	if got := page.until("end")["verdict"]; got != "stopped" {
		t.Errorf("the verdict is %q, want stopped", got)
	}
	if over := page.until("over"); over["error"] != nil {
		t.Errorf("the run is over with the error %q, want none", over["error"])
	}
	v.post("/-/stop", 200)
}

// A step that waits ends with the reader. visit waits for it.
func TestTheStepEndsWithTheReader(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/wait.txt", 200)
	page.until("line")
}

// A step that waits ends with the reader even if the reader is killed, and cleans up.
func TestTheStepEndsWithAReaderThatIsKilled(t *testing.T) {
	folder := stepsWorkspace(t)
	program := must.Command(t, "-no-browser")
	program.Dir = folder
	program.Env = append(program.Env, "TMPDIR="+t.TempDir())
	output, err := program.StdoutPipe()
	must.NoError(t, err)
	must.NoError(t, program.Start())
	printed, err := bufio.NewReader(output).ReadString('\n')
	must.NoError(t, err)
	address, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(printed, "The book is at ")))
	must.NoError(t, err)

	const run = "/-/run?transcript=01-queue/testdata/wait.txt"
	request, err := http.NewRequest("POST", "http://"+address.Host+run, nil)
	must.NoError(t, err)
	request.AddCookie(&http.Cookie{Name: "reader-" + address.Port(), Value: address.Query().Get("token")})
	response, err := client.Do(request)
	must.NoError(t, err)
	response.Body.Close()
	if response.StatusCode != 200 {
		t.Fatalf("POST %s: got %d, want 200", run, response.StatusCode)
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	}
	must.Until(t, "the step waits", func() bool { return exists("waits") })
	must.NoError(t, program.Process.Kill())
	_ = program.Wait() // it was killed
	must.Until(t, "the step has cleaned up", func() bool { return exists("cleaned-up") })
}

func TestNextCommand(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/pause.txt&how=pause", 200)
	page.until("wait")
	v.post("/-/next", 200)
	if got := page.until("line")["text"]; got != "goes on" {
		t.Errorf("the line is %q, want: goes on", got)
	}
	page.until("over")
	v.post("/-/next", 409)
}

// What goes wrong is said on the page.
func TestRunsThatFail(t *testing.T) {
	folder := stepsWorkspace(t)
	v := visit(t, folder)
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/crash.txt", 200)
	wantIn(t, "a crash", page.until("over")["error"].(string), "ended early: exit status 2", "panic: the reason")

	writeFile(t, folder, "01-queue/queue.go", "package main\n\nfunc Pop() int { return none }\n")
	v.post("/-/run?transcript=01-queue/testdata/pop.txt", 200)
	wantIn(t, "an error of the compiler", page.until("over")["error"].(string), "does not compile", "undefined: none")
}

// What the code of a step prints past the player is shown, and the step goes on.
func TestPrintingPastThePlayer(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/debug.txt", 200)
	for _, want := range []string{"a <debug> line", "half a line", `{"kind":"Pod"}`} {
		if got := page.until("printed")["text"]; got != want {
			t.Errorf("the page shows %q, want %q", got, want)
		}
	}
	if over := page.until("over"); over["error"] != nil {
		t.Errorf("the run is over with the error %q, want none", over["error"])
	}
	const want = "watching run build begin printed printed line printed end over"
	if got := strings.Join(page.events, " "); got != want {
		t.Errorf("the page got the events %s, want %s", got, want)
	}

	v.post("/-/run?transcript=01-queue/testdata/leaves.txt", 200)
	if got, want := page.until("printed")["text"], "why"; got != want {
		t.Errorf("a line without an end: the page shows %q, want %q", got, want)
	}
	over := page.until("over")
	wantIn(t, "a step that leaves the program", over["error"].(string), "the program has ended early: exit status 0")
}

// Of too much output the rest is left out, which is said once. The step goes on to its end.
func TestAStepThatPrintsTooMuch(t *testing.T) {
	folder := stepsWorkspace(t)
	v := visit(t, folder)
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/much.txt", 200)
	wantIn(t, "a flood", page.until("warning")["text"].(string), "too much")
	if got := page.until("end")["verdict"]; got != "ok" {
		t.Errorf("the verdict is %q, want ok", got)
	}
	if over := page.until("over"); over["error"] != nil {
		t.Errorf("the run is over with the error %q, want none", over["error"])
	}
	if got := strings.Join(page.events, " "); !strings.HasSuffix(got, "line warning end over") {
		t.Errorf("the page got at the end the events %s, want one warning", got[max(0, len(got)-100):])
	}
	if _, err := os.Stat(filepath.Join(folder, "cleaned-up")); err != nil {
		t.Errorf("the step has not cleaned up: %v", err)
	}
	played, _ := v.reader.stage.current()
	if got, most := played.bytes, maxRunBytes+4000; got > most {
		t.Errorf("the run keeps %d bytes, want at most %d", got, most)
	}
}

// What a step writes to its standard error is shown, too.
func TestTheLogOfAStep(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	page := v.listen(t)
	v.post("/-/run?transcript=01-queue/testdata/logs.txt", 200)
	if got, want := page.until("log")["text"], "E0101 <a line of a log>\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
}

// The browser can start steps that exist, and nothing else.
func TestWhatIsNotRun(t *testing.T) {
	folder := stepsWorkspace(t)
	writeFile(t, folder, "01-queue/testdata/none.txt", "no step\n")
	writeFile(t, folder, "01-queue/own/testdata/pop.txt", "no step either\n")
	v := visit(t, folder)
	for _, transcript := range []string{
		"", "pop", "01-queue/testdata/none.txt", "01-queue/own/testdata/pop.txt",
		"01-queue/testdata/../testdata/pop.txt", "01-queue/testdata/pop.txt%00", "/01-queue/testdata/pop.txt",
		"01-queue/testdata/-exec.txt", "docs/testdata/pop.txt",
		"01-queue/testdata/pop.txt%20-update",
	} {
		v.post("/-/run?transcript="+transcript, 404)
	}
	v.post("/-/run?transcript=01-queue/testdata/pop.txt&argument=-update", 400)
	for _, how := range []string{"update", "-update", "pause%20-update", "follow"} { // follow: it serves no page
		v.post("/-/run?transcript=01-queue/testdata/pop.txt&how="+how, 400)
	}
	for _, path := range []string{"/-/run", "/-/stop", "/-/next"} {
		v.get(path, 405)
		for origin, want := range map[string]int{"http://evil.example": 403, "null": 403} {
			if status, _, body := v.send("POST", path, map[string]string{"Origin": origin}); status != want {
				t.Errorf("POST %s from %s: got %d %s, want %d", path, origin, status, body, want)
			}
		}
		if status, _, body := v.send("POST", path, map[string]string{"Cookie": ""}); status != 403 {
			t.Errorf("POST %s without the token: got %d %s, want 403", path, status, body)
		}
	}
	if played, _ := v.reader.stage.current(); played != nil {
		t.Errorf("%s was run", played.transcript)
	}
}
