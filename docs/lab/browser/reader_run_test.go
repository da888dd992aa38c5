//go:build browser

// Run, beside the transcripts of the reading room.

package browser

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
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

// status returns a condition: the figure of a transcript says this.
func status(transcript, text string) string {
	return fmt.Sprintf(`document.querySelector('figure[data-run="%s"] .status').textContent === %q`, transcript, text)
}

// visible returns a condition: a part of the figure of a transcript can be seen.
func visible(transcript, part string) string {
	return fmt.Sprintf(`document.querySelector('figure[data-run="%s"] > %s')?.checkVisibility()`, transcript, part)
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
	r.until("the step can be run again", `!`+figure+`.querySelector('[data-do="run"]').hidden`) // its program has ended
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
	must.NoError(t, r.Run(fmt.Sprintf(`window.widths = new Set(); new ResizeObserver(entries =>
		entries.forEach(({ target }) => widths.add(target.offsetWidth))
		).observe(document.querySelector('figure[data-run="%s"]'))`,
		transcript)))
	must.NoError(t, r.Run(`new MutationObserver(() => {
		if (document.querySelector("[data-run] .status").textContent.startsWith("compiling")) {
			window.meanwhile ??= document.querySelector(".played").innerText;
		}
	}).observe(document.body, { subtree: true, childList: true })`))
	r.wantEnd(transcript, "as in the book", func() error { return r.Do(chromedp.KeyEvent("r")) })
	played := eval[string](t, r.Page, `document.querySelector(".played").innerText.trim()`)
	expected, err := os.ReadFile(filepath.Join(r.folder, transcript))
	must.NoError(t, err)
	if want := strings.TrimSpace(string(expected)); played != want {
		t.Errorf("the page shows\n%s\nwant\n%s", played, want)
	}
	if got := eval[string](t, r.Page, `window.meanwhile.trim()`); got != strings.TrimSpace(string(expected)) {
		t.Errorf("while the step compiles, the page shows\n%s\nwant what the book has", got)
	}

	must.NoError(t, r.Click(button("turn")))
	r.until("what the book has is shown", visible(transcript, "pre:not(.played)")+" && !"+visible(transcript, ".played"))
	must.NoError(t, r.Click(button("turn")))
	r.until("the run is shown again", visible(transcript, ".played")+" && !"+visible(transcript, "pre:not(.played)"))

	long := "OnAdd: %s" + strings.Repeat(", a long line", 12)
	r.edit("01-deltafifo/step_informer.go", "OnAdd : %s", long)
	r.until("the block is marked", `document.querySelector("figure.changed")`) // it moves what is below it
	r.run(transcript, "not as in the book")
	r.until("the difference is shown", `document.querySelector(".played .other").innerText.includes("OnAdd: web") &&
		document.querySelector(".played .other .want").innerText.includes("OnAdd : web")`)

	if widths := eval[[]int](t, r.Page, `[...widths]`); len(widths) != 1 {
		t.Errorf("while the step runs, its block is %v pixels wide, want one width", widths)
	}

	r.edit("01-deltafifo/step_informer.go", long, "OnAdd : %s")
	r.until("the run is of another version", status(transcript, "not as in the book (of an older version of the code)"))

	must.NoError(t, r.Click(button("step")))
	r.until("it waits before the first command", fmt.Sprintf(`!document.querySelector('%s').hidden`, button("next")))
	r.until("it shows and marks this command",
		`[...document.querySelectorAll(".played .line")].at(-1).matches(".given.next")`)
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

// On a phone, what a run says has room, and the block keeps its height from the start of the run to its end. Of a panic
// the reader sees what it says, and opens the stack.
func TestRunningOnAPhone(t *testing.T) {
	const transcript = "01-deltafifo/testdata/informer.txt"
	r := enter(t, "/docs/prologue.md", Display{Width: 390, Height: 844})
	r.until("the page is watched", `document.body?.dataset.watching`)
	must.NoError(t, r.Run(fmt.Sprintf(`window.figure = document.querySelector('figure[data-run="%s"]');
		window.heights = new Set(); new MutationObserver(() => figure.querySelector(".played") &&
			heights.add(figure.offsetHeight)).observe(figure, { subtree: true, childList: true, attributes: true })`,
		transcript)))
	r.run(transcript, "as in the book")
	if heights := eval[[]int](t, r.Page, `[...heights]`); len(heights) != 1 {
		t.Errorf("while the step runs, its block is %v pixels high, want one height", heights)
	}
	if cut := eval[string](t, r.Page, `[...figure.querySelectorAll(".status, figcaption button:not([hidden])")].
		filter(part => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight + 1 ||
			part.offsetLeft + part.offsetWidth > figure.offsetWidth).map(part => part.innerText).join()`); cut != "" {
		t.Errorf("of the caption, %s is cut off", cut)
	}
	if rows := eval[int](t, r.Page, `(status => status.offsetHeight / parseFloat(getComputedStyle(status).lineHeight) +
		0.5 | 0)(figure.querySelector(".status"))`); rows != 1 {
		t.Errorf("the verdict has %d rows, want 1", rows)
	}
	before := eval[int](t, r.Page, `figure.offsetHeight`)
	r.edit("01-deltafifo/step_informer.go", "{\n", "{\n\tpanic(\"no such pod\")\n")
	r.run(transcript, "failed")
	r.until("what the panic says is shown", `figure.querySelector(".played .gd").innerText.includes("panic: no such pod")`)
	if after := eval[int](t, r.Page, `figure.offsetHeight`); after > before {
		t.Errorf("after a panic the block is %d pixels high, want at most %d, as before", after, before)
	}
	must.NoError(t, r.Click(".played .log > summary"))
	r.until("the stack is shown", `figure.querySelector(".log").innerText.match(/^goroutine \d+ \[running\]/m)`)
}

// A step is run, gone through and stopped without a mouse. When a button goes away, the output has
// the focus.
func TestRunningWithTheKeyboard(t *testing.T) {
	const transcript = "01-deltafifo/testdata/informer.txt"
	r := enter(t, "/docs/prologue.md", Display{})
	r.until("the page is watched", `document.body?.dataset.watching`)
	must.NoError(t, r.Run(fmt.Sprintf(`document.querySelector('figure[data-run="%s"] .source').focus()`, transcript)))
	focused := func(name string) {
		t.Helper()
		r.until("the focus is on "+name, fmt.Sprintf(
			`document.activeElement.matches('figure[data-run="%s"] :is([data-do="%s"], .%[2]s)')`, transcript, name))
	}
	r.press("\t")
	focused("step")
	r.press("\t")
	focused("run")
	r.wantEnd(transcript, "as in the book", func() error { return r.Do(chromedp.KeyEvent("\r")) })
	focused("played")
	r.pressWith("\t", chromedp.ModifierShift)
	focused("run")
	r.pressWith("\t", chromedp.ModifierShift)
	focused("step")
	r.pressWith("\t", chromedp.ModifierShift)
	focused("turn")
	r.press("\r")
	r.until("what the book has is shown", visible(transcript, "pre:not(.played)"))
	r.press("\t")
	focused("step")
	r.press("\r")
	focused("next")
	r.press("\r")
	r.until("a command is given", `document.querySelector(".played .given")`)
	focused("next")
	r.press("\t")
	focused("stop")
	r.press("\r")
	r.until("it is stopped", status(transcript, "stopped"))
	focused("played")
	r.press("s")
	focused("next")
}

// A step that is run leaves the output of the one before it. What client-go logs has its name, because it
// looks like a failure.
func TestRunningTwoSteps(t *testing.T) {
	const first, second = "01-deltafifo/testdata/callbacks.txt", "01-deltafifo/testdata/deltas.txt"
	r := enter(t, "/docs/01-deltafifo.md", Display{})
	r.until("the page is watched", `document.body?.dataset.watching`)
	r.edit("01-deltafifo/step_callbacks.go", "	onAdd := func", `	println("E1231 23:59:59.999999 1 reflector.go:1] \"no\"")
	onAdd := func`)
	r.until("the block is marked", `document.querySelector("figure.changed")`) // runs before that are of an older version
	r.run(second, "as in the book")
	r.run(first, "as in the book")
	r.until("the log has its name", `document.querySelector(".log > summary").textContent.startsWith("client-go's log")`)
	r.until("both runs are shown", visible(first, ".played")+" && "+visible(second, ".played"))
	r.until("both have their status", status(first, "as in the book")+" && "+status(second, "as in the book"))
}

// While a step waits, no other is run. The page says so until the first has ended.
func TestRunningWhileAStepWaits(t *testing.T) {
	const waits, other = "01-deltafifo/testdata/informer.txt", "01-deltafifo/testdata/deltas.txt"
	r := enter(t, "/docs/prologue.md", Display{})
	r.run(waits, "as in the book") // it is built
	must.NoError(t, r.Click(fmt.Sprintf(`figure[data-run="%s"] [data-do="step"]`, waits)))
	r.until("it waits", fmt.Sprintf(`!document.querySelector('figure[data-run="%s"] [data-do="next"]').hidden`, waits))
	r.open("/docs/01-deltafifo.md")
	must.NoError(t, r.Click(fmt.Sprintf(`figure[data-run="%s"] [data-do="run"]`, other)))
	r.until("it is refused", status(other, waits+" is running: stop it first"))
	must.NoError(t, r.Run(`fetch("/-/stop", { method: "POST" })`))
	r.until("the refusal is gone", status(other, ""))
	r.TakeComplaints() // the browser logs each answer with an error
}

// pressWith presses a key while another one is held down.
func (r *room) pressWith(key string, modifier chromedp.Modifier) {
	r.t.Helper()
	must.NoError(r.t, r.Do(chromedp.KeyEvent(key, chromedp.KeyModifiers(modifier))))
}

// A step that needs a cluster, and finds none, offers to start one.
func TestRunningAStepWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	const transcript = "05-watchdog/testdata/watchdog.txt"
	r := enter(t, "/docs/05-watchdog.md", Display{})
	r.run(transcript, "needs a cluster")
	r.until("it offers to start a cluster", `document.querySelector('.start [data-do="cluster"]')`)
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

// The step that has found no cluster is run again when the page has started one.
func TestStartingACluster(t *testing.T) {
	const transcript = "05-watchdog/testdata/stop.txt"
	folder := copyWorkspace(t)
	script := "#!/bin/sh\necho a cluster begins\n" + clusterFiles(t) // in the place of the real one
	must.NoError(t, os.WriteFile(filepath.Join(folder, "scripts", "local-up.sh"), []byte(script), 0o755))
	t.Setenv("KUBECONFIG", "")
	r := enterServed(t, serveBook(t, folder), "/docs/05-watchdog-start-and-end.md", Display{})
	r.run(transcript, "needs a cluster")
	r.wantEnd(transcript, "as in the book", func() error { return r.Click(`.start [data-do="cluster"]`) })
	if got := eval[string](t, r.Page, `document.querySelector(".played").innerText`); strings.Contains(got, "begins") {
		t.Errorf("the page shows\n%s\nwant the output of the step alone", got)
	}
}

// Run of X-ray opens its page in a second window, which cannot reach the first. Stop ends it.
func TestRunningXRay(t *testing.T) {
	const transcript = "docs/xray/testdata/xray.txt"
	folder := copyWorkspace(t)
	prepare := exec.CommandContext(t.Context(), "sh", "-c", clusterFiles(t))
	prepare.Dir = folder
	must.NoError(t, prepare.Run())
	t.Setenv("KUBECONFIG", "")
	r := enterServed(t, serveBook(t, folder), "/docs/xray.md", Display{})
	// A browser opens a window only within seconds after a click, and the program is built first.
	must.NoError(t, r.Run(`Object.defineProperty(navigator, "userActivation", { value: { isActive: true } })`))
	must.NoError(t, r.Click(`figure[data-how="follow"] [data-do="run"]`))
	untilMinutes(t, r.Page, "the link is there, and has the focus",
		`document.activeElement.matches('figure[data-how="follow"] .played a[target="_blank"][rel~="noopener"]')`)
	address := eval[string](t, r.Page, `document.activeElement.href`)
	var window *target.Info
	must.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true,
		func(context.Context) (bool, error) {
			all, err := chromedp.Targets(browser)
			i := slices.IndexFunc(all, func(info *target.Info) bool {
				return info.URL == address && info.Title == "X-ray of an informer"
			})
			if i >= 0 {
				window = all[i]
			}
			return i >= 0, err
		}))
	if window.CanAccessOpener {
		t.Errorf("the page at %s can reach the window that has opened it, want that it cannot", address)
	}
	// The reader comes back to the first window, which gets no events while it is hidden.
	_, err := chromedp.Call(r.ctx, page.BringToFront, cdp.Empty{})
	must.NoError(t, err)
	r.until("it is seen", `!document.hidden && !document.querySelector('[data-how="follow"] [data-do="stop"]').hidden`)
	must.NoError(t, r.Click(`figure[data-how="follow"] [data-do="stop"]`))
	r.until("it is stopped", `document.querySelector('[data-how="follow"] .status').textContent === "stopped"`)
	r.until("the link is gone", `!document.querySelector(".played a")`)
	if got := eval[string](t, r.Page, fmt.Sprintf(
		`document.querySelector('figure[data-run="%s"]:not([data-how]) .status').textContent`, transcript)); got != "" {
		t.Errorf("beside the transcript, where nothing was run, is %q, want nothing", got)
	}
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
