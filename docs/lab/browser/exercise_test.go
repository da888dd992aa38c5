//go:build browser

// The journey of somebody who does an exercise.

package browser

import (
	"fmt"
	"strings"
	"testing"
)

// practise gives an action of the exercise on the page with the keyboard, and waits until the page
// shows this status, and these buttons.
func (r *room) practise(action, status, buttons string) {
	r.t.Helper()
	r.startAction(action)
	r.untilMinutes(action+" has ended", fmt.Sprintf(`document.querySelector(".exercise .status").textContent === %q &&
		[...document.querySelectorAll(".exercise figcaption button:not([hidden])")].
			map(b => b.innerText).join(" ") === %q`, status, buttons))
}

// startAction presses the button of an action with the keyboard.
func (r *room) startAction(action string) {
	r.t.Helper()
	button := fmt.Sprintf(`document.querySelector('.exercise [data-practice=%q]')`, action)
	r.untilMinutes(action+" is offered", `!`+button+`.hidden`)             // the practice tool is built first
	r.run(`document.querySelector(".exercise .status").textContent = "?"`) // of the action before
	r.run(button + `.focus()`)
	r.press("\r")
}

// prints wants that the practice tool has printed this.
func (r *room) prints(texts ...string) {
	r.t.Helper()
	output := eval[string](r.visitor, `document.querySelector(".exercise .played").innerText`)
	for _, text := range texts {
		if !strings.Contains(output, text) {
			r.t.Errorf("the output is\n%s\nwant %q in it", output, text)
		}
	}
}

// Without a mouse, with nothing but the buttons and an editor, the reader starts an exercise, checks,
// stops a check that hangs, looks at a hint and at the solution, solves the exercise, keeps the solution
// and starts again.
func TestAnExercise(t *testing.T) {
	const (
		ofClone = "01-deltafifo/deltafifo/deltafifo.go"
		file    = ".practice/put/" + ofClone
		page    = "/01-deltafifo/practice/put.md"
		started = "Check Hint Solution Reset"
		wrong   = "scripts/harness/practice/wrong.go"
	)
	c := newClone(t)
	book := c.read(ofClone)
	wantFiles := func(exercise, own string) {
		t.Helper()
		if !strings.Contains(c.read(file), exercise) {
			t.Errorf("%s has no %q", file, exercise)
		}
		if c.read(ofClone) != own {
			t.Errorf("%s is\n%s\nwant\n%s", ofClone, c.read(ofClone), own)
		}
	}

	c.write(wrong, "package main\n\nvar _ = wrong\n")
	r := visitRoom(t, c, serveBook(t, c), page, Display{})
	r.untilMinutes("it fails", `document.querySelector(".exercise .status").textContent === "the practice tool fails"`)
	r.until("before that it was compiled", `said.has("compiling the practice tool …")`)
	r.until("the error is shown", `document.querySelector(".exercise .about").textContent.includes("undefined: wrong")`)
	r.takeComplaintsOfRequests()
	c.shell("rm " + wrong)
	r.open(page)
	r.untilMinutes("it says what Start does", `document.querySelector(".exercise .about").innerText.startsWith(
		"Start makes the folder .practice/put, a copy of this clone, without this code in `+ofClone+`.")`)

	r.practise("start", "started", started)
	r.until("the hole is beside the text", `
		[...document.querySelectorAll("#panel .line.marked")].some(l => l.innerText.includes("yours to write")) &&
		/deltafifo\.go:\d+$/.test(document.querySelector("#panel .editor").href)`)
	wantFiles("yours to write", book)
	r.press("\x1b")
	r.until("the panel is closed", `document.querySelector("#panel").hidden &&
		document.activeElement.matches(".exercise .about a")`)

	c.edit(file, `panic("yours to write")`, `select {}`)
	r.startAction("check")
	r.until("the check runs", `!document.querySelector('.exercise [data-practice="stop"]').hidden`)
	r.click(`.exercise [data-practice="stop"]`)
	r.until("it is stopped", `document.querySelector(".exercise .status").textContent === "stopped"`)
	r.until("the focus is on a button", `document.activeElement.matches('.exercise [data-practice="check"]')`)
	c.edit(file, `select {}`, `panic("yours to write")`)

	r.practise("check", "not solved yet", started)
	r.prints("FAIL  TestOfTwoDeletesInARowTheBetterOneIsKept")
	r.practise("hint", "", started)
	r.prints("FAIL  TestOfTwo", "\nput, hint 1 of 3: ")
	r.practise("solution", "", started)
	r.prints("+func dedupDeltas(")

	c.write(file, book)
	r.practise("check", "solved", "Check Solution Keep Reset")
	r.until("a file in the output is a link", fmt.Sprintf(`document.querySelector('.played a.source[href="/%s"]')`, file))
	r.click(`.played [data-practice="solution"]`) // Compare: scripts/practice.sh solution put
	r.until("a command in the output is a button",
		`document.querySelector(".played").innerText.includes("Your code is the book's.")`)
	r.open("/docs/practice.md")
	r.until("it is solved on the page with all exercises", `
		document.querySelector('td > a[href$="/put.md"]').dataset.state === "solved" &&
		document.querySelector('td > a[href$="/pop.md"]').dataset.state === "" &&
		document.querySelector('#contents a[href="/docs/practice.md"]').dataset.progress.startsWith("1 of ") &&
		document.querySelector('#contents a[href="/docs/01-deltafifo.md"]').dataset.progress === "1 of 8"`)

	r.open("/docs/01-deltafifo.md")
	const others = " Start Start" // of the two other exercises on the page
	solution := strings.Replace(book, "\npackage ", "\n// Solved.\npackage ", 1)
	c.write(file, solution)
	r.practise("keep", "kept in the clone", "Check Solution Keep Reset"+others)
	wantFiles("// Solved.", solution)
	r.practise("reset", "the start is back", started+others)
	r.until("it stays solved",
		`document.querySelector('#contents [href="/docs/01-deltafifo.md"]').dataset.progress === "1 of 8"`)
	wantFiles("yours to write", solution)
	r.until("the page is there again", `document.querySelector('figure[data-run$="/deltas.txt"]')`)
	r.click(`figure[data-run$="/deltas.txt"] [data-do="run"]`)
	r.until("a run says whose code it is", `document.querySelector(".played .open-exercise").innerText ===
		"This runs the clone's code, and not .practice/put. Check of put runs yours."`)
}
