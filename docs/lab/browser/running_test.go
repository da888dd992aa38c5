//go:build browser

// Journeys of somebody who runs steps.

package browser

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// figure returns an expression: the figure of a transcript.
func figure(transcript string) string {
	return fmt.Sprintf(`document.querySelector('figure[data-run=%q]')`, transcript)
}

// button returns the selector of a button of the figure of a transcript.
func button(transcript, name string) string {
	return fmt.Sprintf(`figure[data-run=%q] [data-do=%q]`, transcript, name)
}

// says returns a condition: the figure of a transcript says this.
func says(transcript, text string) string {
	return fmt.Sprintf(`%s.querySelector(".status").textContent === %q`, figure(transcript), text)
}

// visible returns a condition: a part of the figure of a transcript can be seen.
func visible(transcript, part string) string {
	return fmt.Sprintf(`%s.querySelector(":scope > %s")?.checkVisibility()`, figure(transcript), part)
}

// wantEnd starts the step of a transcript, waits until it has ended in any way, and checks in which
// one.
func (r *room) wantEnd(transcript, want string, start func()) {
	r.t.Helper()
	r.run(figure(transcript) + `.querySelector(".status").textContent = ""`) // of the run before
	start()
	r.untilMinutes("the step has ended", fmt.Sprintf(`(status => status.matches(".good, .bad") && status.textContent ||
		["stopped", "needs a cluster"].includes(status.textContent))(%s.querySelector(".status"))`, figure(transcript)))
	r.until("the step can be run again", isOffered(transcript, "run")) // its program has ended
	if got := eval[string](r.visitor, figure(transcript)+`.querySelector(".status").textContent`); got != want {
		r.t.Fatalf("the step ends: got %q, want %q; the page says:\n%s", got, want,
			eval[string](r.visitor, figure(transcript)+`.innerText`))
	}
}

// runStep starts the step of a transcript with its button, and checks how it ends.
func (r *room) runStep(transcript, want string) {
	r.t.Helper()
	r.wantEnd(transcript, want, func() { r.click(button(transcript, "run")) })
}

// isOffered returns a condition: a button of the figure of a transcript can be seen.
func isOffered(transcript, name string) string {
	return fmt.Sprintf(`!document.querySelector('%s').hidden`, button(transcript, name))
}

// Without a mouse, the reader runs a step, goes through it command by command, and stops it. When a button
// goes away, the output has the focus. While a step waits, no other is run: the next page says so.
func TestSteppingThroughATranscript(t *testing.T) {
	const step = "01-deltafifo/testdata/informer.txt"
	r := enter(t, "/docs/prologue.md", Display{})
	r.watched()
	focused := func(name string) {
		t.Helper()
		r.until("the focus is on "+name, fmt.Sprintf(
			`document.activeElement.matches('figure[data-run=%q] :is([data-do=%q], .%[2]s)')`, step, name))
	}
	back := func(name string) {
		t.Helper()
		r.press("\t", chromedp.KeyModifiers(chromedp.ModifierShift))
		focused(name)
	}
	forward := func(key, name string) {
		t.Helper()
		r.press(key)
		focused(name)
	}
	r.run(figure(step) + `.querySelector(".source").focus()`)
	forward("\t", "step")
	forward("\t", "run")
	r.wantEnd(step, "as in the book", func() { r.press("\r") })
	focused("played")
	back("run")
	back("step")
	back("turn")
	r.press("\r")
	r.until("what the book has is shown", visible(step, "pre:not(.played)"))
	forward("\t", "step")
	forward("\r", "next")
	r.until("the command that comes next is shown, and marked",
		`[...document.querySelectorAll(".played .line")].at(-1).matches(".given.next")`)
	r.press("\r")
	r.until("it is given, and the step waits before another one",
		`document.querySelectorAll(".played .given").length > 1 && `+isOffered(step, "next"))
	focused("next")
	forward("\t", "stop")
	r.press("\r")
	r.until("it is stopped", says(step, "stopped"))
	focused("played")
	r.open("/docs/prologue.md")
	r.until("the page has the same run when it is opened again", says(step, "stopped"))
	r.run(figure(step) + `.scrollIntoView()`)
	r.press("s")
	r.until("it waits again", isOffered(step, "next"))

	const log, other = "01-deltafifo/testdata/callbacks.txt", "01-deltafifo/testdata/deltas.txt"
	r.press("n")
	r.at("/docs/01-deltafifo.md")
	r.watched()
	r.click(button(other, "run"))
	r.until("another step is refused", says(other, step+" is running: stop it first"))
	r.run(`fetch("/-/stop", { method: "POST" })`)
	r.until("the refusal is gone", says(other, ""))
	r.takeComplaintsOfRequests()

	// What client-go logs has its name, because it looks like a failure.
	r.clone.edit("01-deltafifo/step_callbacks.go", "\tonAdd := func",
		"\tprintln(`E1231 23:59:59.999999 1 reflector.go:1] \"no\"`)\n\tonAdd := func")
	// Runs before the block is marked are of an older version.
	r.until("the block is marked", `document.querySelector("figure.changed")`)
	r.runStep(other, "as in the book")
	r.runStep(log, "as in the book")
	r.until("the log has its name", `document.querySelector(".log > summary").textContent.startsWith("client-go's log")`)
	r.until("a run leaves the one before it", visible(log, ".played")+" && "+visible(other, ".played"))
	r.until("both have their status", says(log, "as in the book")+" && "+says(other, "as in the book"))
}

// On a phone, the contents are shown on request. What a run says has room, and the block keeps its height
// from the start of the run to its end. Of a panic the reader sees what it says, and opens the stack.
func TestOnAPhone(t *testing.T) {
	const step = "01-deltafifo/testdata/informer.txt"
	r := enter(t, "/docs/05-watchdog.md", Display{Width: 390, Height: 844})
	const shown = `getComputedStyle(document.querySelector("#contents")).display !== "none"`
	if eval[bool](r.visitor, shown) {
		t.Error("the contents are shown at the start, want them hidden")
	}
	r.click("#menu")
	r.until("the contents are shown, and what they cover gets no focus",
		shown+` && document.querySelector("main").inert`)
	r.press("\x1b")
	r.until("they are closed, and the text can have the focus", `!(`+shown+`) && !document.querySelector("main").inert`)
	r.click("#menu")
	r.click(`#contents a[href="/docs/prologue.md"]`)
	r.at("/docs/prologue.md")
	r.watched()

	r.run(`window.figure = ` + figure(step) + `; window.heights = new Set();
		new MutationObserver(() => figure.querySelector(".played") && heights.add(figure.offsetHeight)).
			observe(figure, { subtree: true, childList: true, attributes: true })`)
	r.runStep(step, "as in the book")
	if heights := eval[[]int](r.visitor, `[...heights]`); len(heights) != 1 {
		t.Errorf("while the step runs, its block is %v pixels high, want one height", heights)
	}
	if cut := eval[string](r.visitor, `[...figure.querySelectorAll(".status, figcaption button:not([hidden])")].
		filter(part => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight + 1 ||
			part.offsetLeft + part.offsetWidth > figure.offsetWidth).map(part => part.innerText).join()`); cut != "" {
		t.Errorf("of the caption, %s is cut off", cut)
	}
	if rows := eval[int](r.visitor, `(status => status.offsetHeight / parseFloat(getComputedStyle(status).lineHeight) +
		0.5 | 0)(figure.querySelector(".status"))`); rows != 1 {
		t.Errorf("the verdict has %d rows, want 1", rows)
	}
	before := eval[int](r.visitor, `figure.offsetHeight`)
	r.clone.edit("01-deltafifo/step_informer.go", "{\n", "{\n\tpanic(\"no such pod\")\n")
	r.runStep(step, "failed")
	r.until("what the panic says is shown", `figure.querySelector(".played .gd").innerText.includes("panic: no such pod")`)
	if after := eval[int](r.visitor, `figure.offsetHeight`); after > before {
		t.Errorf("after a panic the block is %d pixels high, want at most %d, as before", after, before)
	}
	r.click(".played .log > summary")
	r.until("the stack is shown", `figure.querySelector(".log").innerText.match(/^goroutine \d+ \[running\]/m)`)
}

// A reader without a cluster copies the commands of a step, runs it, is told that it needs a cluster, and
// starts one from the page. Then the step runs, and X-ray opens in a second window.
func TestWithoutACluster(t *testing.T) {
	theirs := clusterFiles(t)
	t.Setenv("KUBECONFIG", "")
	const (
		first = "05-watchdog/testdata/watchdog.txt"
		code  = "05-watchdog/step_watchdog.go"
		step  = "05-watchdog/testdata/stop.txt"
	)
	r := enter(t, "/docs/05-watchdog.md", Display{})
	var commands []string
	for line := range strings.Lines(r.clone.read(first)) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		}
	}
	got := r.copied(fmt.Sprintf(`figure[data-run=%q]`, first)) + "\n"
	if want := strings.Join(commands, ""); got != want || want == "" {
		t.Errorf("of a transcript, Copy takes\n%s\nwant\n%s", got, want)
	}
	got = r.copied(fmt.Sprintf(`figure[data-file=%q]`, code))
	if source := r.clone.read(code); got == "" || !strings.Contains(source, got) {
		t.Errorf("of code, Copy takes\n%s\nwant a part of\n%s", got, source)
	}

	r.open("/docs/05-watchdog-start-and-end.md")
	r.runStep(step, "needs a cluster")
	r.clone.write("scripts/local-up.sh", "#!/bin/sh\necho a cluster begins\n"+theirs) // not the real one
	r.wantEnd(step, "as in the book", func() { r.click(`.start [data-do="cluster"]`) })
	if got := eval[string](r.visitor, `document.querySelector(".played").innerText`); strings.Contains(got, "begins") {
		t.Errorf("the page shows\n%s\nwant the output of the step alone", got)
	}

	const xray, follow = "docs/xray/testdata/xray.txt", `figure[data-how="follow"] `
	r.open("/docs/xray.md")
	// A browser opens a window only within seconds after a click, and the program is built first.
	r.run(`Object.defineProperty(navigator, "userActivation", { value: { isActive: true } })`)
	r.click(follow + `[data-do="run"]`)
	r.untilMinutes("the link is there, and has the focus",
		`document.activeElement.matches('`+follow+`.played a[target="_blank"][rel~="noopener"]')`)
	address := eval[string](r.visitor, `document.activeElement.href`)
	window := waitForWindow(t, address, "X-ray of an informer")
	if window.CanAccessOpener {
		t.Errorf("the page at %s can reach the window that has opened it, want that it cannot", address)
	}
	x := visitXRay(t, address, Display{})
	x.do("relabel")
	book := eval[string](r.visitor, "location.origin") + "/docs/"
	x.until("a caption links to a section",
		fmt.Sprintf(`document.querySelector("#captions a").href.startsWith(%q)`, book+"07-shared-informer"))
	x.until("what there is to try links to the page about it",
		fmt.Sprintf(`document.querySelector("#try a").href === %q`, book+"xray.md#1-a-delete-that-nobody-saw"))
	must.NoError(t, x.Do(chromedp.Navigate("about:blank")))

	// The reader comes back to the first window, which gets no events while it is hidden.
	_, err := chromedp.Call(r.ctx, page.BringToFront, cdp.Empty{})
	must.NoError(t, err)
	r.until("it is seen", `!document.hidden && !document.querySelector('`+follow+`[data-do="stop"]').hidden`)
	r.click(follow + `[data-do="stop"]`)
	r.until("it is stopped", `document.querySelector('`+follow+`.status').textContent === "stopped"`)
	r.until("the link is gone", `!document.querySelector(".played a")`)
	r.until("the transcript beside it was not run",
		fmt.Sprintf(`document.querySelector('figure[data-run=%q]:not([data-how]) .status').textContent === ""`, xray))
}

// copied presses Copy of a block, and returns what the clipboard gets.
func (r *room) copied(block string) string {
	r.t.Helper()
	r.run(`navigator.clipboard.writeText = (write => text => (window.copied = text, write(text)))(
		navigator.clipboard.writeText.bind(navigator.clipboard))`)
	button := fmt.Sprintf(`document.querySelector('%s [data-copy]')`, block)
	r.run(button + `.focus()`)
	r.press("\r")
	r.until("it says that it has copied", button+`.textContent === "Copied"`)
	return eval[string](r.visitor, `window.copied`)
}

// clusterFiles returns the commands of a shell that make the cluster of the tests the one of a
// folder.
func clusterFiles(t *testing.T) string {
	t.Helper()
	root, err := workspace.Root(".")
	must.NoError(t, err)
	own := filepath.Join(root, ".cluster")
	return fmt.Sprintf("mkdir -p .cluster && cp '%s' .cluster/kubeconfig && ln -sf '%s/bin' .cluster/bin\n",
		cmp.Or(os.Getenv("KUBECONFIG"), filepath.Join(own, "kubeconfig")), own)
}

// waitForWindow waits until the browser has a window with this page.
func waitForWindow(t *testing.T, address, title string) (window *target.Info) {
	t.Helper()
	must.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true,
		func(context.Context) (bool, error) {
			all, err := chromedp.Targets(browser)
			i := slices.IndexFunc(all, func(info *target.Info) bool { return info.URL == address && info.Title == title })
			if i >= 0 {
				window = all[i]
			}
			return i >= 0, err
		}))
	return window
}
