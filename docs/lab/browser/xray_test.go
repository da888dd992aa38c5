//go:build browser

// Journeys of somebody who looks at X-ray.

package browser

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/informer/scripts/harness/must"
)

// startXRay starts X-ray for a test.
func startXRay(t *testing.T) *Program {
	t.Helper()
	p, err := Start(context.WithoutCancel(t.Context()), xrayProgram, "localhost:0")
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, p.Stop()) })
	return p
}

// visitXRay opens the page of X-ray, and waits for the object that is there from the start.
func visitXRay(t *testing.T, address string, display Display) *visitor {
	t.Helper()
	p, closePage, err := Visit(browser, address, display)
	must.NoError(t, err)
	v := newVisitor(t, p, closePage)
	v.until("the informer has synced", Field("store", "objects")+` >= "1"`)
	return v
}

// do presses the button of an action, and waits until the program has done it.
func (v *visitor) do(action string, attributes ...string) {
	v.t.Helper()
	must.NoError(v.t, v.Press(action, attributes...))
}

// doAndCount is do for an action after which the store has change more objects.
func (v *visitor) doAndCount(action string, change int) {
	v.t.Helper()
	before := eval[int](v, // from the program, because the page may lag behind
		`fetch("/xray/state" + location.search).then(a => a.json()).then(s => s.set.store.objects)`)
	v.do(action)
	v.untilObjects(before + change)
}

// objects returns how many objects the store on the page has.
func (v *visitor) objects() int {
	v.t.Helper()
	return eval[int](v, "Number("+Field("store", "objects")+")")
}

func (v *visitor) untilObjects(want int) {
	v.t.Helper()
	v.until(fmt.Sprintf("the store has %d objects", want), fmt.Sprintf(`%s === "%d"`, Field("store", "objects"), want))
}

// newest returns the name of the object that changed last.
func (v *visitor) newest() string {
	v.t.Helper()
	return eval[string](v, `JSON.parse(`+Field("store", "keys")+`)[0].split("/").pop()`)
}

// seesChip waits until a chip was on the page that was noted with these words (see ChipSeen).
func (v *visitor) seesChip(words string) {
	v.t.Helper()
	v.until("a chip was seen: "+words, ChipSeen(words))
}

// seesCaption waits until a caption has this text.
func (v *visitor) seesCaption(text string) {
	v.t.Helper()
	v.until("a caption says "+text, fmt.Sprintf(`document.querySelector("#captions").innerText.includes(%q)`, text))
}

// Somebody follows an object through both informers, looks at what has changed, cuts the connection and
// misses a delete, lets the watch expire, goes on with the keyboard, and looks at pods.
func TestXRay(t *testing.T) {
	program := startXRay(t)
	v, other := visitXRay(t, program.URL, Display{}), visitXRay(t, program.URL, Display{Light: true})
	v.doAndCount("create", +1)
	name, known := v.newest(), v.objects()
	for _, route := range []string{
		"server reflector", "reflector store", "store journal", "journal handlers/fast", "journal handlers/slow",
		"server client-go/informer", "client-go/informer client-go/handlers/fast",
	} {
		v.seesChip(route + " add " + name)
	}
	other.untilObjects(known)
	other.doAndCount("create", +1)
	v.untilObjects(known + 1)
	other.doAndCount("delete", -1)
	v.untilObjects(known)

	v.do("relabel")
	v.until("the index follows", Field("store", "indexes")+`.includes('"db":1')`)
	v.until("the change is listed", `document.querySelector("#recent button").innerText.includes("pdate")`)
	v.click("#recent button")
	v.until("its difference is shown", `document.querySelector("#panel").open &&
		["web", "db"].every(app => document.querySelector("#panel-body").innerText.includes("app: " + app))`)
	v.press("\x1b")
	v.until("Escape closes it", `!document.querySelector("#panel").open`)
	v.click(`[data-station="handlers/fast"] .name`)
	v.until("the handler's calls are shown", `document.querySelector("#panel-body").innerText.includes("add")`)
	v.press("\x1b")

	v.do("recreate")
	name = v.newest()
	v.seesChip("journal handlers/fast delete " + name)
	v.until("an add comes after it", Field("handlers/fast", "last")+`.includes('"change":"add"')`)
	// On a slow machine the page leaves out chips that would be late, so there is another resync.
	resync := ChipSeen("journal handlers/fast resync " + name)
	for range 5 {
		v.do("resync")
		if v.Until("a resync has come", resync) == nil {
			break
		}
	}
	v.until("a resync has come", resync)

	known, name = v.objects(), v.newest()
	v.do("cut")
	v.until("the reflector notices", Field("reflector", "doing")+` === "backing off"`)
	v.do("delete")
	if got := v.objects(); got != known {
		t.Errorf("the store has %d objects while the connection is cut, want the %d that it knew", got, known)
	}
	v.do("restore")
	v.seesChip("journal handlers/fast tombstone " + name)
	v.seesChip("client-go/informer client-go/handlers/fast tombstone " + name)
	v.seesCaption("tombstone")
	v.until("the recent changes have it", `document.querySelector("#recent").innerText.includes("ombstone")`)

	lists := eval[int](v, "Number("+Field("server", "lists")+")")
	v.do("expire")
	v.until("the list is asked for", fmt.Sprintf("%s > %d", Field("server", "lists"), lists))
	v.seesCaption("410")

	v.doAndCount("create", +1)
	v.press(" ")
	v.until("space pauses, and does not press the button again", `document.body.dataset.mode === "paused"`)
	v.press(" ")
	v.until("space plays", `document.body.dataset.mode !== "paused"`)
	known = v.objects()
	for range 60 { // Tab reaches every button
		v.press("\t")
		if eval[string](v, `document.activeElement.dataset.action ?? ""`) == "delete" {
			break
		}
	}
	v.press("\r")
	v.untilObjects(known - 1)

	must.NoError(t, v.Do(chromedp.Navigate(program.URL+"?informer=pods")))
	v.until("the page is about pods", `document.querySelector("#kind").innerText === "Pod"`)
	v.doAndCount("create", +1)
	v.doAndCount("delete", -1)
}

// Somebody slows a handler until it stalls. Our informer folds its backlog, and client-go's keeps all of
// it, until it is fast again. Then a handler comes late, and goes.
func TestXRayWithASlowHandler(t *testing.T) {
	v := visitXRay(t, startXRay(t).URL, Display{})
	v.doAndCount("create", +1)
	v.do("update", `[data-count="100"]`)
	for range 40 { // while chips travel, all numbers of the page are of the same moment
		if got := eval[string](v, numbersDiffer); got != "" {
			t.Errorf("the numbers differ: %s", got)
		}
	}
	v.do("speed", `[data-handler="slow"]`, `[data-speed="stalled"]`)
	// The 10,000 updates of the button would take minutes where the machine is busy.
	v.run(`document.querySelector('[data-count="10000"]').dataset.count = 2000`)
	v.do("update", `[data-count="2000"]`)
	v.untilMinutes("client-go's handler has them all waiting", Field("client-go/handlers/slow", "waiting")+" > 1900")
	v.until("ours has folded most of them", Field("handlers/slow", "folded")+" > 1000")
	v.until("few wait for ours", Field("handlers/slow", "waiting")+" < 600") // it folds from 500 on
	v.until("the fast one has had them all", Field("handlers/fast", "waiting")+` === "0"`)
	v.do("speed", `[data-handler="slow"]`, `[data-speed="fast"]`)
	v.until("ours catches up", Field("handlers/slow", "waiting")+` === "0"`)
	v.until("client-go's catches up", Field("client-go/handlers/slow", "waiting")+` === "0"`)
	v.do("update", `[data-count="2000"]`)
	v.do("cancel")
	v.seesCaption("The updates are cancelled")

	v.do("add", `[data-speed="fast"]`)
	v.until("the late handler has an initial add", Field("handlers/handler-3", "last")+`.includes('"change":"initial"')`)
	must.NoError(t, v.Do(chromedp.Reload()))
	v.until("the handlers come in the same order",
		`[...document.querySelectorAll("#handlers .name")].map(name => name.innerText).join() === "fast,slow,handler-3"`)
	v.do("remove", `[data-handler="handler-3"]`)
	v.until("its box has gone", `!document.querySelector('[data-station="handlers/handler-3"]')`)
}

// numbersDiffer says which numbers on the page do not agree.
const numbersDiffer = `(() => {
	const number = selector => Number(document.querySelector(selector).dataset.value);
	const all = selector => [...document.querySelectorAll(selector)].map(e => Number(e.dataset.value));
	const waiting = all('[data-station^="handlers/"] [data-field="waiting"]').reduce((a, b) => a + b);
	const start = Math.min(...all(".cursors span"));
	return waiting === number("#sum-ours") && start === number('[data-field="start"]') ? "" :
		"the handlers say that " + waiting + " notifications wait, the title says " + number("#sum-ours") +
		"; the last handler is at " + start + ", the journal says that it is needed from " +
		number('[data-field="start"]');
})()`

// Somebody pauses, goes back to the first record and forward again, and looks at what has come meanwhile.
// Then the program ends, and the next one is found.
func TestXRayBackInTime(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	program, err := Start(ctx, xrayProgram, "localhost:0")
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, program.Stop()) }) // after the page is closed
	v := visitXRay(t, program.URL, Display{})
	for range 3 {
		v.doAndCount("create", +1)
	}
	v.click("#pause")
	v.until("it is paused", `document.body.dataset.mode === "paused"`)
	seen := []int{v.objects()}
	for seq := eval[int](v, `Number(document.body.dataset.seq)`); seen[len(seen)-1] > 1; {
		v.click("#back")
		v.until("it has gone back", fmt.Sprintf(`document.body.dataset.seq < %d`, seq))
		seq = eval[int](v, `Number(document.body.dataset.seq)`)
		if objects := v.objects(); objects != seen[len(seen)-1] {
			seen = append(seen, objects)
		}
	}
	if want := []int{4, 3, 2, 1}; !slices.Equal(seen, want) {
		t.Errorf("on its way back the page shows %v objects, want %v", seen, want)
	}
	v.click("#forward")
	v.do("create") // while the page is paused, records are kept
	v.until("it says how many wait", `document.querySelector("#waiting").innerText.includes("waiting")`)
	v.click("#live")
	v.until("it is live again", `document.body.dataset.mode === "live"`)
	v.untilObjects(5)

	must.NoError(t, program.Stop())
	v.until("the page says that the program has ended", `document.body.dataset.stream === "lost" &&
		document.querySelector("#lost").innerText && document.querySelector("#mode").innerText.startsWith("ended")`)
	program, err = Start(ctx, xrayProgram, address.FindString(program.URL)[len("http://"):])
	must.NoError(t, err)
	v.until("events come again", `document.body.dataset.stream === "open" &&
		document.querySelector("#mode").innerText.startsWith("live")`)
	v.untilObjects(1) // those of the new program
	v.doAndCount("create", +1)
	v.TakeComplaints() // the browser reports each connection that was refused
}
