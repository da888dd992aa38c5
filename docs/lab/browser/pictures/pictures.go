// The pictures, and the tasks that lead to them.

package main

import (
	"fmt"

	"example.com/informer/docs/lab/browser"
)

// A picture is taken after some tasks on the page of a new program.
type picture struct {
	file    string // without .png
	display browser.Display
	tasks   []task
	crop    string // a selector: the picture shows these elements, from the top to the bottom; default: the window
	outline string // a selector: these elements have a frame
}

// What pictures are cropped to.
const (
	ourInformer   = `.informer-title.ours, .lane.ours, #handlers`
	bothInformers = "#stage"
	panel         = "#panel-title, #panel-body .plus"
)

var pictures = []picture{
	{file: "xray", tasks: busy},
	{file: "xray-light", display: browser.Display{Light: true}, tasks: busy},
	{file: "xray-narrow", display: browser.Display{Width: 390, Height: 844}, tasks: busy},
	{
		file:    "xray-cut",
		tasks:   []task{cutAndDelete},
		crop:    ourInformer,
		outline: `[data-station="server"] dl, [data-station="reflector"] .box`,
	}, {
		file:    "xray-tombstone",
		tasks:   []task{cutAndDelete, press("restore"), backTo("tombstone", "handlers/fast")},
		crop:    ourInformer,
		outline: `[data-chip][data-change="tombstone"]`,
	}, {
		file: "xray-late",
		tasks: []task{
			create, create, create, create, press("add", `[data-speed="fast"]`),
			backTo("initial", "handlers/handler-3"),
		},
		crop:    ourInformer,
		outline: `[data-station="handlers/handler-3"]`,
	}, {
		file: "xray-stalled",
		tasks: []task{
			create, create, create,
			press("speed", `[data-handler="slow"]`, `[data-speed="stalled"]`),
			press("update", `[data-count="10000"]`),
			untilMinutes("the backlog of client-go's handler is long",
				browser.Field("client-go/handlers/slow", "waiting")+" > 4000"),
		},
		crop:    bothInformers,
		outline: `[data-station="handlers/slow"], [data-station="client-go/handlers/slow"]`,
	}, {
		file:    "xray-resync",
		tasks:   []task{create, create, create, press("resync"), backTo("resync", "handlers/fast")},
		crop:    ourInformer,
		outline: `[data-chip][data-change="resync"]`,
	}, {
		file:    "xray-queue",
		display: browser.Display{Height: 1150}, // for both queues
		tasks: []task{
			choose("first", "deltafifo"), choose("second", "realfifo"),
			create, press("loop", `[data-speed="stalled"]`),
			press("relabel"), press("delete"), create, press("expire"),
			until("the list waits", browser.Field("second/queue", "items")+`.includes("list of")`),
			until("the list was compared", browser.Field("queue", "dropped")+` === "1"`),
			until("all chips have arrived", `!document.querySelector("[data-chip]")`),
		},
		crop:    bothInformers,
		outline: `[data-station$="queue"] .box`,
	}, {
		file: "xray-recreated",
		tasks: []task{
			create, create, press("cut"), reflectorBacksOff, press("recreate"), press("restore"),
			backTo("update", "store"),
			run(`document.querySelector("[data-chip]").click()`),
			until("the diff is shown", `document.querySelector("#panel-body .minus")`),
		},
		crop:    panel,
		outline: `[data-chip][data-change="update"]`,
	},
}

// Tasks that several pictures have.
var (
	create            = press("create")
	reflectorBacksOff = until("the reflector notices", browser.Field("reflector", "doing")+` === "backing off"`)

	busy = []task{
		create, create, create, create, create, press("relabel"), press("update", `[data-count="100"]`),
		until("the slow handler has a backlog", browser.Field("handlers/slow", "waiting")+" > 40"),
	}
	cutAndDelete = inOrder(
		create, create, create, press("cut"),
		until("the caption says so", `document.querySelector("#captions").innerText.includes("cable")`),
		reflectorBacksOff, press("delete"),
		until("all chips have arrived", `!document.querySelector("[data-chip]")`),
	)
)

// A task is done on the page before a picture is taken.
type task func(*browser.Page) error

func press(action string, attributes ...string) task {
	return func(p *browser.Page) error { return p.Press(action, attributes...) }
}

func until(what, condition string) task {
	return func(p *browser.Page) error { return p.Until(what, condition) }
}

// untilMinutes is until for minutes, where the time depends on the machine and not on the page.
func untilMinutes(what, condition string) task {
	return func(p *browser.Page) (err error) {
		for range 8 {
			if err = p.Until(what, condition); err == nil {
				return nil
			}
		}
		return err
	}
}

func run(script string) task {
	return func(p *browser.Page) error { return p.Run(script) }
}

// choose chooses a set of parts, first or second, and waits until the page shows it.
func choose(place, set string) task {
	return inOrder(
		run(fmt.Sprintf(`(() => {
			const choice = document.querySelector("#%s");
			choice.value = %q;
			choice.dispatchEvent(new Event("change"));
		})()`, place, set)),
		until("the page shows "+set, fmt.Sprintf(`document.body.dataset.parts.split(",").includes(%q)`, set)),
		until("the handlers have the initial list", browser.Field("handlers/slow", "calls")+` > 0`),
	)
}

// inOrder does tasks one after the other, until one fails.
func inOrder(tasks ...task) task {
	return func(p *browser.Page) error {
		for _, t := range tasks {
			if err := t(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// backTo waits for a change to reach a station, pauses, and steps back to the moment when its chip
// travels there.
func backTo(change, station string) task {
	chip := fmt.Sprintf("document.querySelector('[data-chip][data-change=%q][data-to=%q]')", change, station)
	return inOrder(
		until("a chip has gone to "+station, browser.ChipSeen(station+" "+change)),
		run(fmt.Sprintf(`(async () => {
			document.querySelector("#pause").click();
			for (let steps = 0; steps < 300 && !%s; steps++) {
				document.querySelector("#back").click();
				await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
			}
		})()`, chip)),
		until("the caption follows", fmt.Sprintf(
			`document.querySelector("#caption").innerText.includes(%s.dataset.key.split("/").pop())`, chip)))
}
