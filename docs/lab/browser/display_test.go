//go:build browser

// Every kind of page, on wide and narrow displays, with dark and light colours, and for assistive
// technology.

package browser

import (
	"testing"

	"example.com/informer/scripts/harness/must"
)

// On every display nobody has to scroll sideways, and axe-core finds no violation. On the pages of the
// book, diagrams fit the column of the text, and all code ends at one edge.
func TestEveryPageOnEveryDisplay(t *testing.T) {
	axe, err := Script(t.Context(), "axe-core@4.14.0", "axe.min.js")
	must.NoError(t, err)
	c := newClone(t)
	book, xray := serveBook(t, c), startXRay(t)
	for name, display := range map[string]Display{
		"wide, dark":                    {},
		"wide, light":                   {Light: true},
		"narrow, dark":                  {Width: 390, Height: 844},
		"narrow, light, reduced motion": {Width: 390, Height: 844, Light: true, ReducedMotion: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := visitRoom(t, c, book, "/docs/README.md", display)
			for _, page := range []string{
				"/docs/README.md", "/docs/05-watchdog.md", "/docs/reference/faults.md", "/05-watchdog/main.go",
				"/01-deltafifo/practice/put.md",
			} {
				r.open(page)
				r.until("the pictures are there", `[...document.images].every(image => image.complete)`)
				for _, part := range eval[[]string](r.visitor, tooWide) {
					t.Errorf("%s: %s", page, part)
				}
				r.fits()
				r.isAccessible(axe)
			}
			v := visitXRay(t, xray.URL, display)
			v.doAndCount("create", +1)
			v.fits()
			v.isAccessible(axe)
			v.seesStations(display)
			v.choose("#first", "deltafifo")
			v.choose("#second", "realfifo")
			v.fits()
			v.isAccessible(axe)
			v.choose("#first", "parttwo")
			v.choose("#second", "client-go")
		})
	}
}

// isAccessible checks that axe-core finds no violation of WCAG 2.2, A or AA, and no other one that is
// serious or critical. It leaves out the long reports on what is all right.
func (v *visitor) isAccessible(axe string) {
	v.t.Helper()
	v.run(axe)
	found := eval[[]string](v, `axe.run({resultTypes: ["violations"]}).then(result => result.violations.
		filter(v => v.tags.some(tag => /^wcag2\d?aa?$/.test(tag)) || ["serious", "critical"].includes(v.impact)).
		map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target.join(" ")).join(", ")))`)
	for _, violation := range found {
		v.t.Errorf("%s: axe-core: %s", eval[string](v, "location.pathname"), violation)
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

// seesStations checks that the legend of X-ray is visible at the start, that a chip has room for a name,
// and that chips do not travel for a user who prefers reduced motion.
func (v *visitor) seesStations(display Display) {
	v.t.Helper()
	v.run(`scrollTo(0, 0)`)
	bottom := eval[float64](v, `document.querySelector("#legend").getBoundingClientRect().bottom`)
	if half := eval[float64](v, `innerHeight / 2`); bottom >= half {
		v.t.Errorf("the legend ends at %v, want it above %v, in the upper half of the window", bottom, half)
	}
	v.click("#pause")
	for !eval[bool](v, `Boolean(document.querySelector("[data-chip]"))`) {
		v.click("#back")
	}
	if width := eval[float64](v, `document.querySelector("[data-chip]").offsetWidth`); width < 50 {
		v.t.Errorf("a chip is %v pixels wide, want at least 50, for a name", width)
	}
	v.click("#live")
	moving := eval[int](v, `document.getAnimations().filter(a =>
		new Set(a.effect?.getKeyframes().map(k => k.transform)).size > 1).length`)
	if display.ReducedMotion && moving > 0 {
		v.t.Errorf("%d chips travel, want 0, because the user prefers reduced motion", moving)
	}
}
