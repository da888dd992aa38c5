//go:build browser

// The reading room: reading, finding, code beside the text, on every display, with the keyboard.

package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// copyWorkspace copies the files that git tracks into a folder, so that a test may change them.
func copyWorkspace(t *testing.T) (folder string) {
	t.Helper()
	root, err := workspace.Root(".")
	must.NoError(t, err)
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	list.Dir = root
	names, err := list.Output()
	must.NoError(t, err)
	folder = t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		must.NoError(t, err)
		info, err := os.Stat(filepath.Join(root, name))
		must.NoError(t, err)
		must.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		must.NoError(t, os.WriteFile(filepath.Join(folder, name), text, info.Mode()))
	}
	return folder
}

// serveBook starts the reading room in a folder for a test.
func serveBook(t *testing.T, folder string) *Program {
	t.Helper()
	program, err := StartReader(context.WithoutCancel(t.Context()), readerProgram, folder)
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, program.Stop()) })
	return program
}

// A room is the reading room for a copy of the workspace, in a browser.
type room struct {
	*Page
	t      *testing.T
	folder string
}

// enter starts the reading room, and opens a page of it.
func enter(t *testing.T, page string, display Display) *room {
	t.Helper()
	folder := copyWorkspace(t)
	r := enterServed(t, serveBook(t, folder), page, display)
	r.folder = folder
	return r
}

// enterServed opens a page of a reading room. At the end of the test the browser must have no
// complaint.
func enterServed(t *testing.T, program *Program, page string, display Display) *room {
	t.Helper()
	p, closePage, err := Load(browser, program.URL, display)
	must.NoError(t, err)
	t.Cleanup(func() {
		closePage()
		wantNoComplaint(t, p)
	})
	r := &room{Page: p, t: t}
	r.until("the contents are shown", `location.pathname === "/docs/README.md" && !location.search`)
	r.open(page)
	return r
}

// leftPage matches the errors of a browser that has gone to the next page meanwhile.
var leftPage = regexp.MustCompile(`Cannot find context|context was destroyed|navigated or closed|Promise was collected`)

// until waits for a condition, even while the browser goes from one page to the next.
func (r *room) until(what, condition string) {
	r.t.Helper()
	err := r.Until(what, condition)
	for begin := time.Now(); err != nil && leftPage.MatchString(err.Error()) && time.Since(begin) < hangTime; {
		err = r.Until(what, condition)
	}
	must.NoError(r.t, err)
}

// open opens a page of the same server.
func (r *room) open(page string) {
	r.t.Helper()
	origin := eval[string](r.t, r.Page, "location.origin")
	must.NoError(r.t, r.Do(chromedp.Navigate(origin+page)))
	r.until("the page is ready", `document.body?.dataset.ready`)
}

// press presses a key.
func (r *room) press(key string) {
	r.t.Helper()
	must.NoError(r.t, r.Do(chromedp.KeyEvent(key)))
}

// edit replaces a text in a file of the workspace.
func (r *room) edit(file, before, after string) {
	r.t.Helper()
	name := filepath.Join(r.folder, file)
	text, err := os.ReadFile(name)
	must.NoError(r.t, err)
	if !strings.Contains(string(text), before) {
		r.t.Fatalf("%s has no %q", file, before)
	}
	must.NoError(r.t, os.WriteFile(name, []byte(strings.Replace(string(text), before, after, 1)), 0o644))
}

// From the first page to the second, to a claim, and back, without a mouse.
func TestReadingWithTheKeyboard(t *testing.T) {
	r := enter(t, "/docs/README.md", Display{})
	r.press("n")
	r.until("the next page is shown", `location.pathname === "/docs/prologue.md" && document.body?.dataset.ready`)
	r.press("n")
	r.until("the page after it is shown", `location.pathname === "/docs/01-deltafifo.md" && document.body?.dataset.ready`)
	r.press("p")
	r.until("the page before it is shown", `location.pathname === "/docs/prologue.md" && document.body?.dataset.ready`)
	must.NoError(t, r.Run(`document.querySelector("a.claim").focus()`))
	r.press("\r")
	r.until("the test is beside the text", `document.querySelector("#panel .line.marked")?.innerText.length > 0 &&
		document.querySelector("#panel h1").innerText === "01-deltafifo/tombstones_test.go"`)
	r.press("\x1b")
	r.until("the panel is closed", `document.querySelector("#panel").hidden`)
	if !eval[bool](t, r.Page, `document.activeElement.matches("a.claim")`) {
		t.Error("after the panel is closed, the focus is not on the link that opened it")
	}
	r.press("/")
	r.until("the finder is open", `document.querySelector("#finder").open && document.activeElement.id === "words"`)
	for _, key := range "tombst" {
		r.press(string(key))
	}
	r.until("sections are found", `document.querySelectorAll("#found li").length > 3`)
	first := eval[string](t, r.Page, `new URL(document.querySelectorAll("#found a")[1].href).pathname`)
	must.NoError(t, r.Do(chromedp.KeyEvent("\u0301"))) // the key ArrowDown
	r.press("\r")
	r.until("the second section is shown", fmt.Sprintf(`location.pathname === %q && location.hash`, first))
}

// On every display nobody has to scroll sideways, the text has a measure that can be read, and
// axe-core finds no violation that is serious or critical.
func TestReadingOnEveryDisplay(t *testing.T) {
	axe, err := Script(t.Context(), "axe-core@4.14.0", "axe.min.js")
	must.NoError(t, err)
	program := serveBook(t, copyWorkspace(t))
	for name, display := range displays {
		if display.ReducedMotion {
			continue // nothing moves on these pages
		}
		t.Run(name, func(t *testing.T) {
			r := enterServed(t, program, "/docs/05-watchdog.md", display)
			for _, page := range []string{"/docs/05-watchdog.md", "/docs/reference/faults.md", "/05-watchdog/main.go"} {
				r.open(page)
				content := eval[int](t, r.Page, `document.documentElement.scrollWidth`)
				window := eval[int](t, r.Page, `document.documentElement.clientWidth`)
				if content > window {
					t.Errorf("%s is %d pixels wide, want at most %d, as wide as the window", page, content, window)
				}
				wantAccessible(t, r.Page, axe)
			}
			r.open("/docs/05-watchdog.md")
			before := eval[string](t, r.Page, `getComputedStyle(document.body).backgroundColor`)
			must.NoError(t, r.Click("#theme"))
			r.until("the colours are others", fmt.Sprintf(`getComputedStyle(document.body).backgroundColor !== %q`, before))
			r.open("/docs/prologue.md")
			r.until("they stay on the next page", fmt.Sprintf(`getComputedStyle(document.body).backgroundColor !== %q`, before))
		})
	}
}

// A narrow window hides the contents, and shows them when they are asked for.
func TestContentsInANarrowWindow(t *testing.T) {
	r := enter(t, "/docs/prologue.md", Display{Width: 390, Height: 844})
	const shown = `getComputedStyle(document.querySelector("#contents")).display !== "none"`
	if eval[bool](t, r.Page, shown) {
		t.Error("the contents are shown at the start, want them hidden")
	}
	must.NoError(t, r.Click("#menu"))
	r.until("the contents are shown", shown)
	must.NoError(t, r.Click(`#contents a[href="/docs/05-watchdog.md"]`))
	r.until("the page is shown", `location.pathname === "/docs/05-watchdog.md"`)
}

// A reader changes a line in an editor: the page and the panel follow, and say what differs.
func TestAChangedLine(t *testing.T) {
	r := enter(t, "/docs/prologue.md", Display{})
	must.NoError(t, r.Click(`figure[data-file="01-deltafifo/step_informer.go"] a.source`))
	r.until("the code is beside the text", `document.querySelector("#panel .line.marked")`)
	source, err := os.ReadFile(filepath.Join(r.folder, "01-deltafifo", "step_informer.go"))
	must.NoError(t, err)
	if got := eval[string](t, r.Page, `document.querySelector("#panel code").innerText`); got != string(source) {
		t.Errorf("who copies the code gets\n%s\nwant\n%s", got, source)
	}
	r.until("the page and the file in the panel are watched",
		`document.body?.dataset.watching?.includes("step_informer.go")`)
	r.edit("01-deltafifo/step_informer.go", "OnAdd : %s", "OnAdd: %s")
	r.until("the block is marked", `document.querySelector("figure.changed .badge")?.innerText === "changed by you"`)
	r.until("the panel follows", `document.querySelector("#panel pre").innerText.includes("OnAdd: %s")`)
	difference := eval[string](t, r.Page,
		`[...document.querySelectorAll(".difference .gd, .difference .gi")].map(l => l.textContent).join("")`)
	if !strings.Contains(difference, "OnAdd : %s") || !strings.Contains(difference, "OnAdd: %s") {
		t.Errorf("the difference is %q, want both lines in it", difference)
	}
	r.edit("01-deltafifo/step_informer.go", "OnAdd: %s", "OnAdd : %s")
	r.until("the mark is gone", `!document.querySelector("figure.changed")`)
	r.edit("docs/prologue.md", "## Run it", "## Run it now")
	r.until("the text follows", `document.querySelector("#run-it-now")`)
}

// status returns a condition: the figure of a transcript says this.
func status(transcript, text string) string {
	return fmt.Sprintf(`document.querySelector('figure[data-run="%s"] .status').textContent === %q`, transcript, text)
}

// wantEnd starts the step of a transcript, waits until it has ended in any way, and checks in which
// one. It may take minutes, because the program is built first.
func (r *room) wantEnd(transcript, want string, start func() error) {
	r.t.Helper()
	figure := fmt.Sprintf(`document.querySelector('figure[data-run="%s"]')`, transcript)
	must.NoError(r.t, r.Run(figure+`.querySelector(".status").textContent = ""`)) // of the run before
	must.NoError(r.t, start())
	untilMinutes(r.t, r.Page, "the step has ended", fmt.Sprintf(
		`(status => status.matches(".good, .bad") && status.textContent ||
			["stopped", "needs a cluster"].includes(status.textContent))(%s.querySelector(".status"))`, figure))
	if got := eval[string](r.t, r.Page, figure+`.querySelector(".status").textContent`); got != want {
		r.t.Fatalf("the step ends: got %q, want %q; the page says:\n%s", got, want,
			eval[string](r.t, r.Page, figure+`.innerText`))
	}
}

// run starts the step of a transcript with its button, and checks how it ends.
func (r *room) run(transcript, want string) {
	r.t.Helper()
	r.wantEnd(transcript, want, func() error {
		return r.Click(fmt.Sprintf(`figure[data-run="%s"] [data-do="run"]`, transcript))
	})
}

// A step is run, stopped, and gone through command by command. A line that the reader changes is
// shown beside the book's.
func TestRunningAStep(t *testing.T) {
	const transcript = "01-deltafifo/testdata/informer.txt"
	r := enter(t, "/docs/prologue.md", Display{})
	button := func(name string) string { return fmt.Sprintf(`figure[data-run="%s"] [data-do="%s"]`, transcript, name) }
	r.until("the page is watched", `document.body?.dataset.watching`)
	must.NoError(t, r.Run(fmt.Sprintf(`document.querySelector('figure[data-run="%s"]').scrollIntoView()`, transcript)))
	r.wantEnd(transcript, "as in the book", func() error { return r.Do(chromedp.KeyEvent("r")) })
	played := eval[string](t, r.Page, `document.querySelector(".played").innerText.trim()`)
	expected, err := os.ReadFile(filepath.Join(r.folder, transcript))
	must.NoError(t, err)
	if want := strings.TrimSpace(string(expected)); played != want {
		t.Errorf("the page shows\n%s\nwant\n%s", played, want)
	}

	r.edit("01-deltafifo/step_informer.go", "OnAdd : %s", "OnAdd: %s")
	r.until("the block is marked", `document.querySelector("figure.changed")`) // it moves what is below it
	r.run(transcript, "not as in the book")
	r.until("the difference is shown", `document.querySelector(".played .gi").innerText.includes("OnAdd: web") &&
		document.querySelector(".played .gi .want").innerText.includes("OnAdd : web")`)

	must.NoError(t, r.Click(button("step")))
	r.until("it waits before the first command", fmt.Sprintf(`!document.querySelector('%s').hidden`, button("next")))
	before := eval[int](t, r.Page, `document.querySelectorAll(".played .given").length`)
	must.NoError(t, r.Click(button("next")))
	r.until("the command is given, and it waits again", fmt.Sprintf(
		`document.querySelectorAll(".played .given").length > %d && !document.querySelector('%s').hidden`, before,
		button("next")))
	must.NoError(t, r.Click(button("stop")))
	r.until("it is stopped", status(transcript, "stopped"))
	r.open("/docs/prologue.md")
	r.until("another page shows the same run", status(transcript, "stopped"))
}

// A step that needs a cluster, and finds none, offers to start one.
func TestRunningAStepWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	const transcript = "05-watchdog/testdata/watchdog.txt"
	r := enter(t, "/docs/05-watchdog.md", Display{})
	r.run(transcript, "needs a cluster")
	r.until("it offers to start a cluster", `document.querySelector('.start [data-do="cluster"]')`)
}

// A step that needs a cluster, on the one that the tests use.
func TestRunningAStepOnACluster(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	folder := copyWorkspace(t)
	// The copy has no kubeconfig and no kubectl of its own.
	must.NoError(t, os.Symlink(filepath.Join(root, ".cluster"), filepath.Join(folder, ".cluster")))
	r := enterServed(t, serveBook(t, folder), "/docs/05-watchdog-start-and-end.md", Display{})
	r.run("05-watchdog/testdata/stop.txt", "as in the book")
}
