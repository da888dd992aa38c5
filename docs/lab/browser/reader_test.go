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

// copyWorkspace copies the files that git tracks into a repository of its own, so that a test may change
// them, and the practice tool finds what it needs.
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
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all", "--force"},
		{"-c", "user.name=author", "-c", "user.email=author@example.com", "commit", "--quiet", "--message", "all"},
	} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = folder
		if output, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, output)
		}
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
	r.press("?")
	r.until("the keys are shown", `document.querySelector("#shortcuts").open`)
	r.press("\x1b")
	r.until("they are closed", `!document.querySelector("#shortcuts").open`)
	r.find("tombst")
	r.until("sections with these words are found", `document.querySelector("#found").dataset.words === "tombst" &&
		document.querySelectorAll("#found li").length > 3`)
	r.until("a line of each section is shown, with the words marked", `
		[...document.querySelectorAll("#found .excerpt mark")].some(m => /^tombstones?$/i.test(m.innerText))`)
	sections := eval[[]string](t, r.Page, `[...document.querySelectorAll("#found a")].map(a => new URL(a.href).pathname)`)
	must.NoError(t, r.Do(chromedp.KeyEvent("\u0301"))) // the key ArrowDown
	r.press("\r")
	r.until("the second section is shown", fmt.Sprintf(`location.pathname === %q && location.hash &&
		document.body?.dataset.ready`, sections[1]))
	r.find("tombst")
	r.press("\r") // before the answer is there
	r.until("the first section is shown", fmt.Sprintf(`location.pathname === %q && location.hash &&
		document.body?.dataset.ready`, sections[0]))
	r.find("tombstnoe")
	r.until("it says which word may be meant", `document.querySelector("#nothing button")?.innerText === "tombstone"`)
	must.NoError(t, r.Click("#nothing button"))
	r.until("its sections are found", `document.querySelector("#found").dataset.words === "tombstone" &&
		document.querySelectorAll("#found li").length > 3 && document.activeElement.id === "words"`)
}

// The next start knows where the reader was, and what the reader has chosen, even in another browser,
// which has kept nothing.
func TestComingBack(t *testing.T) {
	folder := copyWorkspace(t)
	first, err := StartReader(context.WithoutCancel(t.Context()), readerProgram, folder)
	must.NoError(t, err)
	r := enterServed(t, first, "/docs/05-watchdog.md", Display{})
	before := eval[string](t, r.Page, `getComputedStyle(document.body).backgroundColor`)
	must.NoError(t, r.Click("#tips button"))
	must.NoError(t, r.Click("#theme"))
	must.NoError(t, r.Run(`document.querySelector("#four-rules").scrollIntoView({ behavior: "instant" })`))
	must.Until(t, "it is kept", func() bool {
		text, _ := os.ReadFile(filepath.Join(folder, ".reader", "kept.json"))
		return strings.Contains(string(text), `"section":"four-rules","theme":"light","tips":"closed"`)
	})
	r.open("/docs/README.md") // which is no place to come back to
	const shown = `document.querySelector("main a").innerText === "Continue: 05, Four rules"`
	r.until("the first action leads back", shown)
	must.NoError(t, r.Do(chromedp.Navigate("about:blank")))
	must.NoError(t, first.Stop())

	r = enterServed(t, serveBook(t, folder), "/", Display{})
	r.until("the first action leads back", shown)
	if eval[string](t, r.Page, `getComputedStyle(document.body).backgroundColor`) == before {
		t.Error("the colours are not those that were chosen")
	}
	must.NoError(t, r.Click("main a"))
	r.until("the section is shown", `location.pathname + location.hash === "/docs/05-watchdog.md#four-rules" &&
		document.body?.dataset.ready`)
	if eval[bool](t, r.Page, `Boolean(document.querySelector("#tips"))`) {
		t.Error("the tips are shown again")
	}
}

// A tab of a reader that has ended, loaded again after the next start, says what to do.
func TestAnOldTab(t *testing.T) {
	folder, relay := copyWorkspace(t), newRelay(t)
	program := relay.startReader(t, folder)
	t.Cleanup(func() { must.NoError(t, program.Stop()) }) // after the page is closed
	r := enterServed(t, program, "/docs/prologue.md", Display{})
	r.until("the page is watched", `document.body?.dataset.watching`)
	must.NoError(t, program.Stop())
	program = relay.startReader(t, folder)
	r.until("it has a link", `document.querySelector("#lost a")?.href === location.href`)
	must.NoError(t, r.Click("#lost a"))
	const says = `document.body?.innerText.includes("open the address that scripts/read.sh has printed")`
	r.until("a page says what to do", says)
	must.NoError(t, r.Run(fmt.Sprintf(`fetch(%q)`, program.URL))) // as in another window
	must.NoError(t, r.Click("a"))
	r.until("the page is there again", `location.pathname === "/docs/prologue.md" && document.body?.dataset.watching`)
	for _, complaint := range r.TakeComplaints() { // the browser logs each request that fails
		if strings.HasPrefix(complaint, "exception") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
}

// find opens the finder, and types words.
func (r *room) find(words string) {
	r.t.Helper()
	r.press("/")
	r.until("the finder is open", `document.querySelector("#finder").open && document.activeElement.id === "words"`)
	// chromedp types the key into the field, too, which a browser does not.
	must.NoError(r.t, r.Run(`document.querySelector("#words").select()`))
	for _, key := range words {
		r.press(string(key))
	}
}

// Copy takes the commands of a transcript, without prompt and output, and all of a block of code.
func TestCopy(t *testing.T) {
	r := enter(t, "/docs/05-watchdog.md", Display{})
	must.NoError(t, r.Run(`navigator.clipboard.writeText = (write => text => (window.copied = text, write(text)))(
		navigator.clipboard.writeText.bind(navigator.clipboard))`))
	copied := func(block string) string {
		t.Helper()
		button := fmt.Sprintf(`document.querySelector(%q)`, block+" [data-copy]")
		must.NoError(t, r.Run(button+`.focus()`))
		r.press("\r")
		r.until("it says that it has copied", button+`.textContent === "Copied"`)
		return eval[string](t, r.Page, `window.copied`)
	}
	file := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(r.folder, filepath.FromSlash(name)))
		must.NoError(t, err)
		return string(text)
	}
	var commands []string
	for line := range strings.Lines(file("05-watchdog/testdata/watchdog.txt")) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		}
	}
	got := copied(`figure[data-run="05-watchdog/testdata/watchdog.txt"]`) + "\n"
	if want := strings.Join(commands, ""); got != want || want == "" {
		t.Errorf("of a transcript, Copy takes\n%s\nwant\n%s", got, want)
	}
	got = copied(`figure[data-file="05-watchdog/step_watchdog.go"]`)
	if source := file("05-watchdog/step_watchdog.go"); got == "" || !strings.Contains(source, got) {
		t.Errorf("of code, Copy takes\n%s\nwant a part of\n%s", got, source)
	}
}

// tooWide returns those parts of a page that do not fit their column: diagrams, and code, outputs and
// tables that do not end at one of the two right edges.
const tooWide = `(() => {
	const article = document.querySelector("main > article");
	if (!article) return [];
	const right = element => Math.round(element.getBoundingClientRect().right);
	const text = right(document.querySelector("h1"));
	const wide = Math.max(text, ...[...article.querySelectorAll(":scope > .block")].map(right));
	const ends = { ".diagram img": x => x <= text, ":scope > :is(.block, table, details)": x => x === wide };
	return Object.entries(ends).flatMap(([selector, fits]) => [...article.querySelectorAll(selector)].
		filter(element => !fits(right(element))).
		map(element => (element.alt || element.innerText).slice(0, 60) + " ends at " + right(element) +
			", the text at " + text + ", code at " + wide));
})()`

// On every display nobody has to scroll sideways, diagrams fit the column of the text, all code ends at
// one edge, and axe-core finds no violation (see wantAccessible).
func TestReadingOnEveryDisplay(t *testing.T) {
	axe, err := Script(t.Context(), "axe-core@4.14.0", "axe.min.js")
	must.NoError(t, err)
	folder := copyWorkspace(t)
	program, kept := serveBook(t, folder), filepath.Join(folder, ".reader", "kept.json")
	for name, display := range displays {
		if display.ReducedMotion {
			continue // nothing moves on these pages
		}
		t.Run(name, func(t *testing.T) {
			must.NoError(t, os.RemoveAll(kept)) // the colours are those of the system again
			r := enterServed(t, program, "/docs/05-watchdog.md", display)
			for _, page := range []string{
				"/docs/README.md", "/docs/05-watchdog.md", "/docs/reference/faults.md", "/05-watchdog/main.go",
				"/01-deltafifo/practice/put.md",
			} {
				r.open(page)
				r.until("the pictures are there", `[...document.images].every(image => image.complete)`)
				for _, part := range eval[[]string](t, r.Page, tooWide) {
					t.Errorf("%s: %s", page, part)
				}
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
			must.Until(t, "they are kept", func() bool {
				text, _ := os.ReadFile(kept)
				return strings.Contains(string(text), `"theme":`)
			})
			r.open("/docs/prologue.md")
			r.until("they stay on the next page", fmt.Sprintf(`getComputedStyle(document.body).backgroundColor !== %q`, before))
		})
	}
}

// When the reader has ended, the page says so, and leads nowhere. When it is there again, and has let
// the browser in, the page goes on.
func TestTheReaderEnds(t *testing.T) {
	folder, relay := copyWorkspace(t), newRelay(t)
	program := relay.startReader(t, folder)
	t.Cleanup(func() { must.NoError(t, program.Stop()) }) // after the page is closed
	r := enterServed(t, program, "/docs/prologue.md", Display{})
	r.until("the page is watched", `document.body?.dataset.watching`)
	relay.reader.Store(nil)
	must.NoError(t, program.Stop())
	r.until("it says that the reader has ended", `!document.querySelector("#lost").hidden &&
		document.querySelector("#lost").textContent.startsWith("The reader has ended")`)
	r.press("r")
	r.press("n")
	must.NoError(t, r.Click("figure a.source"))
	program = relay.startReader(t, folder)
	r.until("it says that there is a new address",
		`document.querySelector("#lost").textContent.startsWith("The reader was started again")`)
	if at := eval[string](t, r.Page, "location.pathname"); at != "/docs/prologue.md" {
		t.Errorf("without the reader, a key has led to %s, want the page that is shown", at)
	}
	must.NoError(t, r.Run(fmt.Sprintf(`fetch(%q)`, program.URL))) // as in another window
	r.until("the page goes on", `document.querySelector("#lost")?.hidden && document.body.dataset.watching`)
	for _, complaint := range r.TakeComplaints() { // the browser logs each request that fails
		if strings.HasPrefix(complaint, "exception") {
			t.Errorf("the browser complains: %s", complaint)
		}
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
	r.until("what they cover gets no focus", `document.querySelector("main").inert`)
	r.press("\x1b")
	r.until("they are closed, and the text can have the focus", `!(`+shown+`) && !document.querySelector("main").inert`)
	must.NoError(t, r.Click("#menu"))
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
	r.until("the line is marked",
		`document.querySelector("figure.changed .line.yours")?.innerText.includes("OnAdd: %s")`)
	must.NoError(t, r.Click("figure.changed .badge"))
	r.until("the difference is open", `document.querySelector("figure.changed .difference").open`)
	difference := eval[string](t, r.Page,
		`[...document.querySelectorAll(".difference .gd, .difference .gi")].map(l => l.textContent).join("")`)
	if !strings.Contains(difference, "OnAdd : %s") || !strings.Contains(difference, "OnAdd: %s") {
		t.Errorf("the difference is %q, want both lines in it", difference)
	}
	r.edit("01-deltafifo/step_informer.go", "OnAdd: %s", "OnAdd : %s")
	r.until("the mark is gone", `!document.querySelector("figure.changed")`)
	r.edit("docs/prologue.md", "## Run it", "## Run it now")
	r.until("the text follows", `document.querySelector("#run-it-now")`)
	must.NoError(t, r.Run(`document.body.dataset.version = "an older one";
		document.dispatchEvent(new Event("visibilitychange"))`))
	r.until("a page that was changed before it is watched follows, too", `document.body.dataset.version.length === 16`)
}
