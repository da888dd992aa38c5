//go:build browser

// What the page shows, and what its buttons do.

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/informer/scripts/harness/must"
)

// newest returns the name of the object that changed last.
func newest(t *testing.T, p *Page) string {
	t.Helper()
	return eval[string](t, p, `JSON.parse(`+Field("store", "keys")+`)[0].split("/").pop()`)
}

func TestAChipArrivesAtEveryStation(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	name := newest(t, p)
	for _, route := range []string{
		"server reflector", "reflector store", "store journal", "journal handlers/fast", "journal handlers/slow",
		"server client-go/informer", "client-go/informer client-go/handlers/fast",
	} {
		until(t, p, "a chip has gone from "+route, ChipSeen(route+" add "+name))
	}
	must.NoError(t, p.Press("relabel"))
	until(t, p, "the index follows", Field("store", "indexes")+`.includes('"db":1')`)
	must.NoError(t, p.Press("recreate"))
	until(t, p, "a delete has come", ChipSeen("journal handlers/fast delete "+name))
	until(t, p, "and an add after it", Field("handlers/fast", "last")+`.includes('"change":"add"')`)
	// On a slow machine the page leaves out chips that would be late, so there is another resync.
	var err error
	for range 5 {
		must.NoError(t, p.Press("resync"))
		if err = p.Until("a resync has come", ChipSeen("journal handlers/fast resync "+name)); err == nil {
			break
		}
	}
	must.NoError(t, err)
	pressAndCount(t, p, "delete", -1)
}

func TestATombstoneComesAfterACut(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	known, name := number(t, p, "store", "objects"), newest(t, p)
	must.NoError(t, p.Press("cut"))
	until(t, p, "the reflector notices", Field("reflector", "doing")+` === "backing off"`)
	must.NoError(t, p.Press("delete"))
	if got := number(t, p, "store", "objects"); got != known {
		t.Errorf("the store has %d objects while the connection is cut, want the %d that it knew", got, known)
	}
	must.NoError(t, p.Press("restore"))
	for _, route := range []string{"journal handlers/fast", "client-go/informer client-go/handlers/fast"} {
		until(t, p, "a tombstone has gone from "+route, ChipSeen(route+" tombstone "+name))
	}
	until(t, p, "the caption says so", `document.querySelector("#captions").innerText.includes("tombstone")`)
	until(t, p, "the recent changes have it", `document.querySelector("#recent").innerText.includes("ombstone")`)
}

func TestAWatchThatExpiresIsFollowedByAList(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	lists := number(t, p, "server", "lists")
	must.NoError(t, p.Press("expire"))
	until(t, p, "the list is asked for", fmt.Sprintf("%s > %d", Field("server", "lists"), lists))
	until(t, p, "the caption says so", `document.querySelector("#captions").innerText.includes("410")`)
}

// Our informer folds the backlog of a stalled handler, and client-go's keeps all of it.
func TestTwoThousandUpdatesForAStalledHandler(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	must.NoError(t, p.Press("speed", `[data-handler="slow"]`, `[data-speed="stalled"]`))
	// The 10,000 updates of the button would take minutes where the machine is busy.
	must.NoError(t, p.Run(`document.querySelector('[data-count="10000"]').dataset.count = 2000`))
	must.NoError(t, p.Press("update", `[data-count="2000"]`))
	untilMinutes(t, p, "client-go's handler has them all waiting", Field("client-go/handlers/slow", "waiting")+" > 1900")
	until(t, p, "ours has folded most of them", Field("handlers/slow", "folded")+" > 1000")
	until(t, p, "few wait for ours", Field("handlers/slow", "waiting")+" < 600") // it folds from 500 on
	until(t, p, "the fast one has had them all", Field("handlers/fast", "waiting")+` === "0"`)
	must.NoError(t, p.Press("speed", `[data-handler="slow"]`, `[data-speed="fast"]`))
	until(t, p, "ours catches up", Field("handlers/slow", "waiting")+` === "0"`)
	until(t, p, "client-go's catches up", Field("client-go/handlers/slow", "waiting")+` === "0"`)
	must.NoError(t, p.Press("update", `[data-count="2000"]`))
	must.NoError(t, p.Press("cancel"))
	until(t, p, "the caption says so",
		`document.querySelector("#captions").innerText.includes("The updates are cancelled")`)
}

// While chips travel, all numbers of the page are of the same moment.
func TestTheNumbersAgree(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	must.NoError(t, p.Press("update", `[data-count="100"]`))
	for range 40 {
		if got := eval[string](t, p, `(() => {
			const number = selector => Number(document.querySelector(selector).dataset.value);
			const all = selector => [...document.querySelectorAll(selector)].map(e => Number(e.dataset.value));
			const waiting = all('[data-station^="handlers/"] [data-field="waiting"]').reduce((a, b) => a + b);
			const start = Math.min(...all(".cursors span"));
			return waiting === number("#sum-ours") && start === number('[data-field="start"]') ? "" :
				"the handlers say that " + waiting + " notifications wait, the title says " + number("#sum-ours") +
				"; the last handler is at " + start + ", the journal says that it is needed from " +
				number('[data-field="start"]');
		})()`); got != "" {
			t.Errorf("the numbers differ: %s", got)
		}
	}
}

func TestHandlersComeAndGo(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	must.NoError(t, p.Press("add", `[data-speed="fast"]`))
	until(t, p, "the late handler has an initial add",
		Field("handlers/handler-3", "last")+`.includes('"change":"initial"')`)
	must.NoError(t, p.Do(chromedp.Navigate(eval[string](t, p, "location.href"))))
	until(t, p, "the handlers come in the same order", `[...document.querySelectorAll("#handlers .name")].
		map(name => name.innerText).join() === "fast,slow,handler-3"`)
	must.NoError(t, p.Press("remove", `[data-handler="handler-3"]`))
	until(t, p, "its box has gone", `!document.querySelector('[data-station="handlers/handler-3"]')`)
}

func TestTwoBrowsersSeeTheSame(t *testing.T) {
	program := serve(t)
	dark, light := visit(t, program.URL, Display{}), visit(t, program.URL, Display{Light: true})
	before := number(t, dark, "store", "objects")
	pressAndCount(t, dark, "create", +1)
	pressAndCount(t, light, "create", +1)
	for _, p := range []*Page{dark, light} {
		until(t, p, "both objects are there", fmt.Sprintf(`%s === "%d"`, Field("store", "objects"), before+2))
	}
}

// The page says that the program has gone, and finds it again.
func TestTheProgramGoesAwayAndComesBack(t *testing.T) {
	first, err := Start(t.Context(), xrayProgram, "localhost:0")
	must.NoError(t, err)
	waitForSync(t, first)
	p := visit(t, first.URL, Display{})
	pressAndCount(t, p, "create", +1)
	must.NoError(t, first.Stop())
	until(t, p, "the page says so", `document.body.dataset.stream === "lost" &&
		document.querySelector("#lost").innerText && document.querySelector("#mode").innerText.startsWith("ended")`)
	second, err := Start(t.Context(), xrayProgram, address.FindString(first.URL)[len("http://"):])
	must.NoError(t, err)
	until(t, p, "events come again", `document.body.dataset.stream === "open" &&
		document.querySelector("#mode").innerText.startsWith("live")`)
	until(t, p, "the store is the new one's", Field("store", "objects")+` === "1"`)
	p.TakeComplaints() // the browser reports each connection that was refused
	pressAndCount(t, p, "create", +1)
	must.NoError(t, second.Stop())
	until(t, p, "the page says so again", `document.body.dataset.stream === "lost"`)
	p.TakeComplaints()
}

func TestKeyboard(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	must.NoError(t, p.Do(chromedp.KeyEvent(" ")))
	until(t, p, "space pauses, and does not press the button again", `document.body.dataset.mode === "paused"`)
	must.NoError(t, p.Do(chromedp.KeyEvent(" ")))
	until(t, p, "space plays", `document.body.dataset.mode !== "paused"`)
	// The buttons can be reached with Tab, and pressed with Enter.
	for range 60 {
		must.NoError(t, p.Do(chromedp.KeyEvent("\t")))
		if eval[string](t, p, `document.activeElement.dataset.action ?? ""`) == "delete" {
			break
		}
	}
	before := number(t, p, "store", "objects")
	must.NoError(t, p.Do(chromedp.KeyEvent("\r")))
	until(t, p, "Enter deletes", fmt.Sprintf(`%s === "%d"`, Field("store", "objects"), before-1))
}

func TestTheDiffOfAChange(t *testing.T) {
	p := visit(t, serve(t).URL, Display{})
	pressAndCount(t, p, "create", +1)
	must.NoError(t, p.Press("relabel"))
	until(t, p, "the change is listed", `document.querySelector("#recent button")?.innerText.includes("pdate")`)
	must.NoError(t, p.Click("#recent button"))
	until(t, p, "the diff is shown", `document.querySelector("#panel").open &&
		["web", "db"].every(app => document.querySelector("#panel-body").innerText.includes("app: " + app))`)
	must.NoError(t, p.Do(chromedp.KeyEvent("\x1b")))
	until(t, p, "Escape closes it", `!document.querySelector("#panel").open`)
	must.NoError(t, p.Click(`[data-station="handlers/fast"] .name`))
	until(t, p, "the handler's calls are shown", `document.querySelector("#panel-body").innerText.includes("add")`)
}

func TestOtherInformers(t *testing.T) {
	p := visit(t, serve(t).URL+"?informer=pods", Display{})
	pressAndCount(t, p, "create", +1)
	if got, want := eval[string](t, p, `document.querySelector("#kind").innerText`), "Pod"; got != want {
		t.Errorf("the page says that the kind is %q, want %q", got, want)
	}
	pressAndCount(t, p, "delete", -1)
}

// If the reading room has started the program, references to the book are links.
func TestReferencesToTheBook(t *testing.T) {
	t.Setenv("READING_ROOM", "http://127.0.0.1:4100/")
	p := visit(t, serve(t).URL, Display{})
	must.NoError(t, p.Press("relabel"))
	until(t, p, "the caption links to a section",
		`document.querySelector("#captions a")?.href.startsWith("http://127.0.0.1:4100/docs/07-shared-informer")`)
	until(t, p, "what there is to try links to the page about it",
		`document.querySelector("#try a")?.href === "http://127.0.0.1:4100/docs/xray.md#1-a-delete-that-nobody-saw"`)
}
