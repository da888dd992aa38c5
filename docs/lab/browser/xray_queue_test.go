//go:build browser

// The queues of Part I, beside each other.

package browser

import "testing"

// choose chooses a set of parts, and waits until the page shows it.
func (v *visitor) choose(place, set string) {
	v.t.Helper()
	v.run(`(() => {
		const choice = document.querySelector("` + place + `");
		choice.value = "` + set + `";
		choice.dispatchEvent(new Event("change"));
	})()`)
	v.until("the page shows "+set, `document.body.dataset.parts.split(",").includes("`+set+`")`)
	v.until("the handlers have the initial list", Field("handlers/slow", "calls")+` > 0`)
}

// Somebody chooses two sets of parts, lets deltas wait, and sees what a DeltaFIFO does otherwise than a
// RealFIFO. Each window shows the choice.
func TestXRayWithTwoQueues(t *testing.T) {
	program := startXRay(t)
	for name, display := range map[string]Display{"wide": {}, "narrow": {Width: 390, Height: 844, Light: true}} {
		t.Run(name, func(t *testing.T) {
			v, other := visitXRay(t, program.URL, display), visitXRay(t, program.URL, Display{})
			v.choose("#first", "deltafifo")
			v.choose("#second", "realfifo")
			for _, window := range []*visitor{v, other} {
				window.until("both queues are there",
					Field("queue", "name")+` === "DeltaFIFO" && `+Field("second/queue", "name")+` === "RealFIFO"`)
			}
			v.doAndCount("create", +1)
			gone := v.newest()
			v.do("loop", `[data-speed="stalled"]`)
			v.do("relabel")
			v.do("delete")
			v.do("create")
			v.do("expire")
			v.until("a pop will return two deltas of the object",
				Field("queue", "items")+`.includes('/`+gone+`","deltas":["update","delete"]')`)
			v.until("the list was compared, and the second delete is dropped",
				Field("queue", "compared")+`.includes('"names":"`+gone+`"') && `+Field("queue", "dropped")+` === "1"`)
			v.until("the other queue has the list as one delta", Field("second/queue", "items")+`.includes("list of")`)
			v.fits()
			v.do("loop", `[data-speed="fast"]`)
			v.until("nothing waits", Field("queue", "waiting")+` === "0" && `+Field("second/queue", "waiting")+` === "0"`)
			v.seesChip("queue store")
			v.choose("#first", "parttwo")
			v.choose("#second", "client-go")
			v.until("there is no queue", `!document.querySelector('[data-station="queue"]').offsetParent`)
		})
	}
}
