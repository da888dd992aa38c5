//go:build browser

// The reading room: an exercise from start to end.

package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// practise gives an action of the exercise on the page with the keyboard, and waits until the page
// shows this status, and these buttons. It may take minutes, because the practice tool is built first.
func (r *room) practise(action, status, buttons string) {
	r.t.Helper()
	button := fmt.Sprintf(`document.querySelector('.exercise [data-practice="%s"]')`, action)
	untilMinutes(r.t, r.Page, action+" is offered", button+`?.hidden === false`)
	must.NoError(r.t, r.Run(`document.querySelector(".exercise .status").textContent = "?"`)) // of the action before
	must.NoError(r.t, r.Run(button+`.focus()`))
	r.press("\r")
	const shown = `[...document.querySelectorAll(".exercise figcaption button:not([hidden])")].
		map(b => b.innerText).join(" ")`
	untilMinutes(r.t, r.Page, action+" has ended", fmt.Sprintf(
		`document.querySelector(".exercise .status").textContent === %q && %s === %q`, status, shown, buttons))
}

// output returns what the practice tool has printed.
func (r *room) output() string {
	r.t.Helper()
	return eval[string](r.t, r.Page, `document.querySelector(".exercise .played").innerText`)
}

// An exercise from start to end, without a mouse: nothing but the buttons, and an editor.
func TestAnExercise(t *testing.T) {
	const (
		ofClone = "01-deltafifo/deltafifo/deltafifo.go"
		file    = ".practice/put/" + ofClone
		page    = "/01-deltafifo/practice/put.md"
		started = "Check Hint Solution Reset"
	)
	folder := copyWorkspace(t)
	source := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		must.NoError(t, err)
		return string(text)
	}
	book := source(ofClone)
	r := enterServed(t, serveBook(t, folder), page, Display{})
	r.folder = folder
	r.until("it says what Start does", `document.querySelector(".exercise .about").innerText.startsWith(
		"Start makes the folder .practice/put, a copy of this clone, without this code in `+ofClone+`.")`)

	r.practise("start", "started", started)
	r.until("the hole is beside the text", `
		[...document.querySelectorAll("#panel .line.marked")].some(l => l.innerText.includes("yours to write")) &&
		/deltafifo\.go:\d+$/.test(document.querySelector("#panel .editor").href)`)
	if !strings.Contains(source(file), "yours to write") || source(ofClone) != book {
		t.Errorf("after Start, want the hole in %s, and %s as it was", file, ofClone)
	}
	r.press("\x1b")
	r.until("the panel is closed", `document.querySelector("#panel").hidden &&
		document.activeElement.matches(".exercise .about a")`)

	r.practise("check", "not solved yet", started)
	if output := r.output(); !strings.Contains(output, "FAIL  TestOfTwoDeletesInARowTheBetterOneIsKept") {
		t.Errorf("the check prints\n%s\nwant the test that fails", output)
	}
	r.practise("hint", "", started)
	output := r.output()
	if !strings.Contains(output, "FAIL  TestOfTwo") || !strings.Contains(output, "\nput, hint 1 of 3: ") {
		t.Errorf("after a hint, the output is\n%s\nwant that of the check, and the first of three hints", output)
	}
	r.practise("solution", "", started)
	if output := r.output(); !strings.Contains(output, "+func dedupDeltas(") {
		t.Errorf("the solution is\n%s\nwant the book's code", output)
	}

	solution := strings.Replace(book, "\npackage ", "\n// Solved.\npackage ", 1)
	must.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(book), 0o644))
	r.practise("check", "solved", "Check Solution Keep Reset")
	r.until("a file in the output is a link", fmt.Sprintf(`document.querySelector('.played a.source[href="/%s"]')`, file))
	must.NoError(t, r.Click(`.played [data-practice="solution"]`)) // Compare: scripts/practice.sh solution put
	r.until("a command in the output is a button", `document.querySelector(".played").innerText.includes(
		"Your code is the book's.")`)
	r.open("/docs/practice.md")
	r.until("it is solved on the page with all exercises", `
		document.querySelector('td > a[href$="/put.md"]').dataset.state === "solved" &&
		document.querySelector('td > a[href$="/pop.md"]').dataset.state === "" &&
		document.querySelector('#contents a[href="/docs/practice.md"]').dataset.progress.startsWith("1 of ") &&
		document.querySelector('#contents a[href="/docs/01-deltafifo.md"]').dataset.progress === "1 of 8"`)

	r.open("/docs/01-deltafifo.md")
	const others = " Start Start" // of the two other exercises on the page
	must.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(solution), 0o644))
	r.practise("keep", "kept in the clone", "Check Solution Keep Reset"+others)
	if source(ofClone) != solution {
		t.Errorf("after Keep, %s has no solution", ofClone)
	}
	r.practise("reset", "the start is back", started+others)
	r.until("it stays solved", `
		document.querySelector('#contents [href="/docs/01-deltafifo.md"]').dataset.progress === "1 of 8"`)
	if !strings.Contains(source(file), "yours to write") || source(ofClone) != solution {
		t.Errorf("after Reset, want the hole in %s, and %s as it was", file, ofClone)
	}
	r.until("the page is there again", `document.querySelector('figure[data-run$="/deltas.txt"]') !== null`)
	must.NoError(t, r.Click(`figure[data-run$="/deltas.txt"] [data-do="run"]`))
	r.until("a run says whose code it is", `document.querySelector(".played .open-exercise")?.innerText ===
		"This runs the clone's code, and not .practice/put. Check of put runs yours."`)
}

// While the practice tool is compiled, the page says so. When it is there, the page shows the buttons.
func TestThePracticeToolIsCompiled(t *testing.T) {
	realGo, err := exec.LookPath("go")
	must.NoError(t, err)
	folder, bin := copyWorkspace(t), t.TempDir()
	gate := filepath.Join(bin, "gate")
	must.NoError(t, syscall.Mkfifo(gate, 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(bin, "go"),
		fmt.Appendf(nil, "#!/bin/sh\nread -r _ <'%s'\nexec '%s' \"$@\"\n", gate, realGo), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	program := serveBook(t, folder)
	wrong := filepath.Join(folder, "scripts/harness/practice/wrong.go")
	must.NoError(t, os.WriteFile(wrong, []byte("package main\n\nvar _ = wrong\n"), 0o644))

	const page, status = "/01-deltafifo/practice/put.md", `document.querySelector(".exercise .status").textContent`
	r := enterServed(t, program, page, Display{})
	isCompiling := status + ` === "compiling the practice tool …"`
	r.until("it is compiled", isCompiling)
	must.NoError(t, os.WriteFile(gate, []byte("\n"), 0o600))
	untilMinutes(t, r.Page, "it fails", status+` === "the practice tool fails"`)
	r.until("the error is shown", `document.querySelector(".exercise .about").textContent.includes("undefined: wrong")`)
	r.TakeComplaints() // the browser logs each answer with an error

	must.NoError(t, os.Remove(wrong))
	r.open(page)
	r.until("it is compiled again", isCompiling)
	must.NoError(t, os.WriteFile(gate, []byte("\n"), 0o600))
	untilMinutes(t, r.Page, "the exercise can be started",
		`!document.querySelector('.exercise [data-practice="start"]').hidden && `+status+` === ""`)
}

// A check that takes long can be stopped.
func TestACheckIsStopped(t *testing.T) {
	folder := copyWorkspace(t)
	r := enterServed(t, serveBook(t, folder), "/01-deltafifo/practice/put.md", Display{Width: 390, Height: 844})
	r.folder = folder
	r.practise("start", "started", "Check Hint Solution Reset")
	r.edit(".practice/put/01-deltafifo/deltafifo/deltafifo.go", `panic("yours to write")`, `select {}`)
	must.NoError(t, r.Click(`.exercise [data-practice="check"]`))
	r.until("the check runs", `!document.querySelector('.exercise [data-practice="stop"]').hidden`)
	must.NoError(t, r.Click(`.exercise [data-practice="stop"]`))
	r.until("it is stopped", `document.querySelector(".exercise .status").textContent === "stopped"`)
	r.until("the focus is on a button", `document.activeElement.matches('.exercise [data-practice="check"]')`)
}
