//go:build browser

// The queues of Part I, beside each other.

package browser

import (
	"context"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// A reader chooses two sets of parts, lets deltas wait, and sees what a DeltaFIFO does otherwise than
// a RealFIFO. Each window shows the choice.
func TestDeltasWaitInTheQueues(t *testing.T) {
	program := serve(t)
	for name, display := range map[string]Display{"wide": {}, "narrow": {Width: 390, Height: 844, Light: true}} {
		t.Run(name, func(t *testing.T) {
			p, other := visit(t, program.URL, display), visit(t, program.URL, Display{})
			choose(t, p, "#first", "deltafifo")
			choose(t, p, "#second", "realfifo")
			for _, page := range []*Page{p, other} {
				until(t, page, "both queues are there",
					Field("queue", "name")+` === "DeltaFIFO" && `+Field("second/queue", "name")+` === "RealFIFO"`)
			}
			pressAndCount(t, p, "create", +1)
			gone := newest(t, p)
			must.NoError(t, p.Press("loop", `[data-speed="stalled"]`))
			must.NoError(t, p.Press("relabel"))
			must.NoError(t, p.Press("delete"))
			must.NoError(t, p.Press("create"))
			must.NoError(t, p.Press("expire"))
			until(t, p, "a pop will return two deltas of the object",
				Field("queue", "items")+`.includes('/`+gone+`","deltas":["update","delete"]')`)
			until(t, p, "the list was compared, and the second delete is dropped",
				Field("queue", "compared")+`.includes('"names":"`+gone+`"') && `+Field("queue", "dropped")+` === "1"`)
			until(t, p, "the other queue has the list as one delta", Field("second/queue", "items")+`.includes("list of")`)
			if width := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); width > 0 {
				t.Errorf("the page is %d pixels wider than the window", width)
			}
			must.NoError(t, p.Press("loop", `[data-speed="fast"]`))
			until(t, p, "nothing waits", Field("queue", "waiting")+` === "0" && `+Field("second/queue", "waiting")+` === "0"`)
			until(t, p, "a chip has come from the queue", ChipSeen("queue store"))
			choose(t, p, "#first", "parttwo")
			choose(t, p, "#second", "client-go")
			until(t, p, "there is no queue", `!document.querySelector('[data-station="queue"]').offsetParent`)
		})
	}
}

// The page with two queues is accessible, in all colours and widths.
func TestTheQueuesAreAccessible(t *testing.T) {
	axe, err := Script(context.Background(), "axe-core@4.14.0", "axe.min.js")
	must.NoError(t, err)
	program := serve(t)
	for name, display := range displays {
		t.Run(name, func(t *testing.T) {
			p := visit(t, program.URL, display)
			choose(t, p, "#first", "deltafifo")
			choose(t, p, "#second", "realfifo")
			wantAccessible(t, p, axe)
		})
	}
}

// choose chooses a set of parts, and waits until the page shows it.
func choose(t *testing.T, p *Page, place, set string) {
	t.Helper()
	must.NoError(t, p.Run(`(() => {
		const choice = document.querySelector("`+place+`");
		choice.value = "`+set+`";
		choice.dispatchEvent(new Event("change"));
	})()`))
	until(t, p, "the page shows "+set, `document.body.dataset.parts.split(",").includes("`+set+`")`)
	until(t, p, "the handlers have the initial list", Field("handlers/slow", "calls")+` > 0`)
}
