//go:build browser

package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/informer/scripts/harness/must"
)

// newest is the name of the object that changed last.
func newest(t *testing.T, p *Page) string {
	t.Helper()
	return eval[string](t, p, `JSON.parse(`+Field("store", "keys")+`)[0].split("/").pop()`)
}

func TestAChipArrivesAtEveryStation(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	pressed(t, p, "create", +1)
	name := newest(t, p)
	for _, way := range []string{
		"server reflector", "reflector store", "store log", "log handlers/fast", "log handlers/slow",
		"server client-go/informer", "client-go/informer client-go/handlers/fast",
	} {
		until(t, p, "a chip has gone from "+way, Seen(way+" add "+name))
	}
	must.Do(t, p.Press("relabel"))
	until(t, p, "the index follows", Field("store", "indexes")+`.includes('"db":1')`)
	must.Do(t, p.Press("recreate"))
	until(t, p, "a delete has come", Seen("log handlers/fast delete "+name))
	until(t, p, "and an add after it", Field("handlers/fast", "last")+`.includes('"change":"add"')`)
	must.Do(t, p.Press("resync"))
	until(t, p, "a resync has come", Seen("log handlers/fast resync "+name))
	pressed(t, p, "delete", -1)
}

func TestATombstoneComesAfterACut(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	pressed(t, p, "create", +1)
	known, name := number(t, p, "store", "objects"), newest(t, p)
	must.Do(t, p.Press("cut"))
	until(t, p, "the reflector notices", Field("reflector", "doing")+` === "backing off"`)
	must.Do(t, p.Press("delete"))
	if got := number(t, p, "store", "objects"); got != known {
		t.Errorf("the store has %d objects while the connection is cut, want the %d that it knew", got, known)
	}
	must.Do(t, p.Press("restore"))
	for _, way := range []string{"log handlers/fast", "client-go/informer client-go/handlers/fast"} {
		until(t, p, "a tombstone has gone from "+way, Seen(way+" tombstone "+name))
	}
	until(t, p, "the caption says so", `document.querySelector("#captions").innerText.includes("tombstone")`)
	until(t, p, "the recent changes have it", `document.querySelector("#recent").innerText.includes("ombstone")`)
}

// Ours folds what a stalled handler misses, and client-go's keeps all of it.
func TestTenThousandUpdatesForAStalledHandler(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	pressed(t, p, "create", +1)
	must.Do(t, p.Press("pace", `[data-handler="slow"]`, `[data-pace="stalled"]`))
	must.Do(t, p.Press("update", `[data-count="10000"]`))
	inTheEnd(t, p, "client-go's handler has them all waiting", Field("client-go/handlers/slow", "waiting")+" > 9900")
	until(t, p, "ours has folded most of them", Field("handlers/slow", "folded")+" > 9000")
	until(t, p, "few wait for ours", Field("handlers/slow", "waiting")+" < 1000")
	until(t, p, "the fast one has had them all", Field("handlers/fast", "waiting")+` === "0"`)
	must.Do(t, p.Press("pace", `[data-handler="slow"]`, `[data-pace="fast"]`))
	until(t, p, "ours catches up", Field("handlers/slow", "waiting")+` === "0"`)
	until(t, p, "client-go's catches up", Field("client-go/handlers/slow", "waiting")+` === "0"`)
}

// While chips travel, all numbers are of the same moment.
func TestTheNumbersAgree(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	pressed(t, p, "create", +1)
	must.Do(t, p.Press("update", `[data-count="100"]`))
	for range 40 {
		if got := eval[string](t, p, `(() => {
			const number = selector => Number(document.querySelector(selector).dataset.value);
			const all = selector => [...document.querySelectorAll(selector)].map(one => Number(one.dataset.value));
			const waiting = all('[data-station^="handlers/"] [data-field="waiting"]').reduce((a, b) => a + b);
			const start = Math.min(...all(".cursors span"));
			return waiting === number("#sum-ours") && start === number('[data-field="start"]') ? "" :
				waiting + " wait, the lane says " + number("#sum-ours") + "; the last handler is at " + start +
				", the log is needed from " + number('[data-field="start"]');
		})()`); got != "" {
			t.Error(got)
		}
	}
}

// The page says that the program has gone, and finds it again.
func TestTheProgramGoesAwayAndComesBack(t *testing.T) {
	first, err := Start(t.Context(), program, "localhost:0")
	must.Do(t, err)
	synced(t, first)
	p := visit(t, first.URL, Look{})
	pressed(t, p, "create", +1)
	must.Do(t, first.Stop())
	until(t, p, "the page says so", `document.body.dataset.stream === "lost" && document.querySelector("#lost").innerText`)
	second, err := Start(t.Context(), program, address.FindString(first.URL)[len("http://"):])
	must.Do(t, err)
	until(t, p, "events come again", `document.body.dataset.stream === "open"`)
	until(t, p, "the store is the new one's", Field("store", "objects")+` === "1"`)
	p.Wrong() // the browser reports each connection that was refused
	pressed(t, p, "create", +1)
	must.Do(t, second.Stop())
	until(t, p, "the page says so again", `document.body.dataset.stream === "lost"`)
	p.Wrong()
}

func TestKeyboard(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	pressed(t, p, "create", +1)
	must.Do(t, p.Do(chromedp.KeyEvent(" ")))
	until(t, p, "space pauses, and does not press the button again", `document.body.dataset.mode === "paused"`)
	must.Do(t, p.Do(chromedp.KeyEvent(" ")))
	until(t, p, "space plays", `document.body.dataset.mode !== "paused"`)
	// The buttons can be reached with Tab, and pressed with Enter.
	for range 60 {
		must.Do(t, p.Do(chromedp.KeyEvent("\t")))
		if eval[string](t, p, `document.activeElement.dataset.action ?? ""`) == "delete" {
			break
		}
	}
	before := number(t, p, "store", "objects")
	must.Do(t, p.Do(chromedp.KeyEvent("\r")))
	until(t, p, "Enter deletes", fmt.Sprintf(`%s === "%d"`, Field("store", "objects"), before-1))
}

func TestTheDiffOfAChange(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	pressed(t, p, "create", +1)
	must.Do(t, p.Press("relabel"))
	until(t, p, "the change is listed", `document.querySelector("#recent button")?.innerText.includes("pdate")`)
	must.Do(t, p.Click("#recent button"))
	until(t, p, "the diff is shown", `document.querySelector("#panel").open &&
		["web", "db"].every(app => document.querySelector("#panel-body").innerText.includes("app: " + app))`)
	must.Do(t, p.Do(chromedp.KeyEvent("\x1b")))
	until(t, p, "Escape closes it", `!document.querySelector("#panel").open`)
	must.Do(t, p.Click(`[data-station="handlers/fast"] .name`))
	until(t, p, "the handler's calls are shown", `document.querySelector("#panel-body").innerText.includes("add")`)
}

// The same page shows the informers of chapter 08's factory.
func TestTheInformersOfAFactory(t *testing.T) {
	serving, err := Start(context.WithoutCancel(t.Context()), factory, "localhost:0")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, serving.Stop()) })
	p := visit(t, serving.URL, Look{})
	until(t, p, "the ConfigMap is stored", Field("store", "objects")+` === "1"`)
	pressed(t, p, "create", +1)
	until(t, p, "a chip has gone to a handler", Seen("log handlers/fast add "+newest(t, p)))
	lists := number(t, p, "server", "lists")
	must.Do(t, p.Press("expire"))
	until(t, p, "the list is asked for", fmt.Sprintf("%s > %d", Field("server", "lists"), lists))
	must.Do(t, p.Press("cut"))
	until(t, p, "the reflector notices", Field("reflector", "doing")+` === "backing off"`)
	must.Do(t, p.Press("restore"))
	until(t, p, "it watches again", Field("reflector", "doing")+` === "watching"`)
}

// The link at a caption leads to the section that explains it.
func TestTheBook(t *testing.T) {
	p := visit(t, serve(t).URL, Look{})
	must.Do(t, p.Press("relabel"))
	until(t, p, "the caption has a link", `document.querySelector("#captions a")`)
	must.Do(t, p.Do(chromedp.Navigate(eval[string](t, p, `document.querySelector("#captions a").href`))))
	until(t, p, "the section is shown", `document.querySelector(":target")?.matches("h2, h3") &&
		document.querySelector("pre code") && document.querySelector("td") && !document.body.innerText.includes("](")`)
}
