//go:build browser

// Journeys of somebody who reads.

package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// The reader opens the book for the first time, turns pages, runs the first step, looks at its code,
// changes a line, runs the step again, sees the difference, and takes the change back.
func TestReadingForTheFirstTime(t *testing.T) {
	const step, code = "01-deltafifo/testdata/informer.txt", "01-deltafifo/step_informer.go"
	r := enter(t, "/docs/README.md", Display{})
	r.press("n")
	r.at("/docs/prologue.md")
	r.press("n")
	r.at("/docs/01-deltafifo.md")
	r.press("p")
	r.at("/docs/prologue.md")
	r.watched()

	r.run(figure(step) + `.scrollIntoView()`)
	r.run(`window.widths = new Set();
		new ResizeObserver(all => all.forEach(e => widths.add(e.target.offsetWidth))).observe(` + figure(step) + `)`)
	r.run(`new MutationObserver(() => {
		if (document.querySelector("[data-run] .status").textContent.startsWith("compiling")) {
			window.meanwhile ??= document.querySelector(".played").innerText;
		}
	}).observe(document.body, { subtree: true, childList: true })`)
	r.wantEnd(step, "as in the book", func() { r.press("r") })
	want := strings.TrimSpace(r.clone.read(step))
	if got := eval[string](r.visitor, `window.meanwhile.trim()`); got != want {
		t.Errorf("while the step compiles, the page shows\n%s\nwant what the book has", got)
	}
	if got := eval[string](r.visitor, `document.querySelector(".played").innerText.trim()`); got != want {
		t.Errorf("the page shows\n%s\nwant\n%s", got, want)
	}
	r.click(button(step, "turn"))
	r.until("what the book has is shown", visible(step, "pre:not(.played)")+" && !"+visible(step, ".played"))
	r.click(button(step, "turn"))
	r.until("the run is shown again", visible(step, ".played")+" && !"+visible(step, "pre:not(.played)"))

	r.click(fmt.Sprintf(`figure[data-file=%q] a.source`, code))
	r.until("the code is beside the text", `document.querySelector("#panel .line.marked")`)
	if got := eval[string](r.visitor, `document.querySelector("#panel code").innerText`); got != r.clone.read(code) {
		t.Errorf("a reader who copies the code gets\n%s\nwant\n%s", got, r.clone.read(code))
	}
	r.until("the file in the panel is watched, too", `document.body.dataset.watching.includes("step_informer.go")`)
	long := "OnAdd: %s" + strings.Repeat(", a long line", 12)
	r.clone.edit(code, "OnAdd : %s", long)
	r.until("the panel follows", `document.querySelector("#panel pre").innerText.includes("OnAdd: %s")`)
	r.until("the line is marked", `document.querySelector("figure.changed .line.yours").innerText.includes("OnAdd: %s")`)
	r.until("the block is marked", `document.querySelector("figure.changed .badge").innerText === "changed by you"`)
	r.click("figure.changed .badge")
	r.until("the difference is open", `document.querySelector("figure.changed .difference").open`)
	difference := eval[string](r.visitor,
		`[...document.querySelectorAll(".difference .gd, .difference .gi")].map(l => l.textContent).join("")`)
	if !strings.Contains(difference, "OnAdd : %s") || !strings.Contains(difference, "OnAdd: %s") {
		t.Errorf("the difference is %q, want both lines in it", difference)
	}
	r.press("\x1b")
	r.until("the panel is closed", `document.querySelector("#panel").hidden`)

	r.run(`widths.clear()`) // the panel has moved the text
	r.runStep(step, "not as in the book")
	r.until("the difference is shown", `document.querySelector(".played .other").innerText.includes("OnAdd: web") &&
		document.querySelector(".played .other .want").innerText.includes("OnAdd : web")`)
	if widths := eval[[]int](r.visitor, `[...widths]`); len(widths) > 1 {
		t.Errorf("while the step runs, its block is %v pixels wide, want one width", widths)
	}
	r.clone.edit(code, long, "OnAdd : %s")
	r.until("the run is of another version", says(step, "not as in the book (of an older version of the code)"))
	r.until("the mark is gone", `!document.querySelector("figure.changed")`)

	// Not the heading of the section that is read: its place could not be kept.
	r.clone.edit("docs/prologue.md", "## The program", "## The whole program")
	r.until("the text follows", `document.querySelector("#the-whole-program")`)
	r.run(`document.body.dataset.version = "an older one"; document.dispatchEvent(new Event("visibilitychange"))`)
	r.until("a page that was changed before it is watched follows, too", `document.body.dataset.version.length === 16`)
}

// Without a mouse, the reader follows a claim to its test, comes back, looks at the keys, and finds
// sections by words.
func TestFindingSomething(t *testing.T) {
	r := enter(t, "/docs/prologue.md", Display{})
	r.run(`document.querySelector("a.claim").focus()`)
	r.press("\r")
	r.until("the test is beside the text", `document.querySelector("#panel .line.marked").innerText.length > 0 &&
		document.querySelector("#panel h1").innerText === "01-deltafifo/tombstones_test.go"`)
	r.press("\x1b")
	r.until("the panel is closed, and the focus is on the link that opened it",
		`document.querySelector("#panel").hidden && document.activeElement.matches("a.claim")`)
	r.press("?")
	r.until("the keys are shown", `document.querySelector("#shortcuts").open`)
	r.press("\x1b")
	r.until("they are closed", `!document.querySelector("#shortcuts").open`)

	find := func(words string) {
		t.Helper()
		r.press("/")
		r.until("the finder is open", `document.querySelector("#finder").open && document.activeElement.id === "words"`)
		// chromedp types the key into the field, too, which a browser does not.
		r.run(`document.querySelector("#words").select()`)
		for _, key := range words {
			r.press(string(key))
		}
	}
	sectionOf := func(page string) string {
		return fmt.Sprintf(`location.pathname === %q && location.hash && document.body.dataset.ready`, page)
	}
	find("tombst")
	r.until("sections with these words are found", `document.querySelector("#found").dataset.words === "tombst" &&
		document.querySelectorAll("#found li").length > 3`)
	r.until("a line of each section is shown, with the words marked", `
		[...document.querySelectorAll("#found .excerpt mark")].some(m => /^tombstones?$/i.test(m.innerText))`)
	pages := eval[[]string](r.visitor, `[...document.querySelectorAll("#found a")].map(a => new URL(a.href).pathname)`)
	r.press("\u0301") // the key ArrowDown
	r.press("\r")
	r.until("the second section is shown", sectionOf(pages[1]))
	find("tombst")
	r.press("\r") // before the answer is there
	r.until("the first section is shown", sectionOf(pages[0]))
	find("tombstnoe")
	r.until("it says which word may be meant", `document.querySelector("#nothing button").innerText === "tombstone"`)
	r.click("#nothing button")
	r.until("its sections are found", `document.querySelector("#found").dataset.words === "tombstone" &&
		document.querySelectorAll("#found li").length > 3 && document.activeElement.id === "words"`)
}

// The reading room ends while a page is open, and is started again: the page goes on. After the next
// start, an old tab says what to do, and a browser that has kept nothing leads to where the reader was,
// in the colours that were chosen.
func TestComingBack(t *testing.T) {
	const goesOn = `document.querySelector("#lost").hidden && document.body.dataset.watching`
	c := newClone(t)
	relay := newRelay(t)
	program := relay.serveBook(t, c)
	t.Cleanup(func() { must.NoError(t, program.Stop()) }) // after the pages are closed
	r := visitRoom(t, c, program, "/docs/prologue.md", Display{})
	r.watched()
	dark := eval[string](r.visitor, `getComputedStyle(document.body).backgroundColor`)
	isLight := fmt.Sprintf(`getComputedStyle(document.body).backgroundColor !== %q`, dark)
	r.click("#tips button")
	r.click("#theme")
	r.until("the colours are others", isLight)

	must.NoError(t, program.Stop())
	r.until("it says that the reader has ended", `!document.querySelector("#lost").hidden &&
		document.querySelector("#lost").textContent.startsWith("The reader has ended")`)
	r.press("r")
	r.press("n")
	r.click("figure a.source")
	program = relay.serveBook(t, c)
	r.until("it says that there is a new address",
		`document.querySelector("#lost").textContent.startsWith("The reader was started again")`)
	if at := eval[string](r.visitor, "location.pathname"); at != "/docs/prologue.md" {
		t.Errorf("without the reader, a key has led to %s, want the page that is shown", at)
	}
	r.run(fmt.Sprintf(`fetch(%q)`, program.URL)) // as in another window
	r.until("the page goes on, with the new colours", goesOn+" && "+isLight)

	r.open("/docs/05-watchdog.md")
	r.run(`document.querySelector("#four-rules").scrollIntoView({ behavior: "instant" })`)
	must.Until(t, "it is kept", func() bool {
		text, _ := os.ReadFile(filepath.Join(c.folder, ".reader", "kept.json"))
		return strings.Contains(string(text), `"section":"four-rules","theme":"light","tips":"closed"`)
	})
	r.open("/docs/README.md") // which is no place to come back to
	const leadsBack = `document.querySelector("main a").innerText === "Continue: 05, Four rules"`
	r.until("the first action leads back", leadsBack)

	must.NoError(t, program.Stop())
	program = relay.serveBook(t, c)
	r.until("the old tab has a link", `document.querySelector("#lost a").href === location.href`)
	r.click("#lost a")
	r.until("a page says what to do",
		`document.body.innerText.includes("open the address that scripts/read.sh has printed")`)
	r.run(fmt.Sprintf(`fetch(%q)`, program.URL)) // as in another window
	r.click("a")
	r.until("the page is there again", `location.pathname === "/docs/README.md" && `+leadsBack)
	r.takeComplaintsOfRequests()

	other := visitRoom(t, c, program, "/", Display{})
	other.until("the first action leads back, in light colours", leadsBack+" && "+isLight)
	other.click("main a")
	other.until("the section is shown, without the tips that were closed",
		`location.pathname + location.hash === "/docs/05-watchdog.md#four-rules" &&
			document.body.dataset.ready && !document.querySelector("#tips")`)
}

// A relay is a server that gives the reading room an address that stays: the next reading room gets
// another port if some program has taken the port meanwhile.
type relay struct {
	*httptest.Server
	reader atomic.Pointer[url.URL]
}

func newRelay(t *testing.T) *relay {
	l := &relay{}
	l.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(l.reader.Load())
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(l.Close)
	return l
}

// serveBook starts a reading room behind the relay. Its URL is one of the relay. The caller stops it.
func (l *relay) serveBook(t *testing.T, c clone) *Program {
	t.Helper()
	program, err := StartReader(context.WithoutCancel(t.Context()), readerProgram, c.folder)
	must.NoError(t, err)
	address, err := url.Parse(program.URL)
	must.NoError(t, err)
	l.reader.Store(&url.URL{Scheme: address.Scheme, Host: address.Host})
	program.URL = l.URL + address.RequestURI()
	return program
}
