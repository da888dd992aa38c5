//go:build browser

// The page on wide and narrow displays, with dark and light colours, and for assistive technology.

package browser

import (
	"testing"

	"example.com/informer/scripts/harness/must"
)

var displays = map[string]Display{
	"wide, dark":                   {},
	"wide, light":                  {Light: true},
	"narrow, dark":                 {Width: 390, Height: 844},
	"narrow, light":                {Width: 390, Height: 844, Light: true},
	"wide, dark, reduced motion":   {ReducedMotion: true},
	"narrow, dark, reduced motion": {Width: 390, Height: 844, ReducedMotion: true},
}

// On every display nobody has to scroll sideways, the legend is visible at the start, a chip has
// room for a name, and the buttons work.
func TestEveryDisplay(t *testing.T) {
	program := serve(t)
	for name, display := range displays {
		t.Run(name, func(t *testing.T) {
			p := visit(t, program.URL, display)
			pressAndCount(t, p, "create", +1)
			content := eval[int](t, p, `document.documentElement.scrollWidth`)
			window := eval[int](t, p, `document.documentElement.clientWidth`)
			if content > window {
				t.Errorf("the page is %d pixels wide, want at most %d, as wide as the window", content, window)
			}
			must.NoError(t, p.Run(`scrollTo(0, 0)`))
			bottom := eval[float64](t, p, `document.querySelector("#legend").getBoundingClientRect().bottom`)
			if half := eval[float64](t, p, `innerHeight / 2`); bottom >= half {
				t.Errorf("the legend ends at %v, want it above %v, in the upper half of the window", bottom, half)
			}
			must.NoError(t, p.Click("#pause"))
			for !eval[bool](t, p, `Boolean(document.querySelector("[data-chip]"))`) {
				must.NoError(t, p.Click("#back"))
			}
			if width := eval[float64](t, p, `document.querySelector("[data-chip]").offsetWidth`); width < 50 {
				t.Errorf("a chip is %v pixels wide, want at least 50, for a name", width)
			}
			must.NoError(t, p.Click("#live"))
			if display.ReducedMotion {
				moving := eval[int](t, p, `document.getAnimations().filter(a =>
					new Set(a.effect?.getKeyframes().map(k => k.transform)).size > 1).length`)
				if moving > 0 {
					t.Errorf("%d chips travel, want 0, because the user prefers reduced motion", moving)
				}
			}
		})
	}
}

// axe-core finds no violation of WCAG 2.2, A or AA, and no other one that is serious or critical.
func TestAccessibility(t *testing.T) {
	axe, err := Script(t.Context(), "axe-core@4.14.0", "axe.min.js")
	must.NoError(t, err)
	program := serve(t)
	for name, display := range displays {
		t.Run(name, func(t *testing.T) {
			p := visit(t, program.URL, display)
			must.NoError(t, p.Press("create"))
			wantAccessible(t, p, axe)
		})
	}
}

// wantAccessible checks that axe-core finds no violation of WCAG 2.2, A or AA, and no other one that is
// serious or critical. It leaves out the long reports on what is all right.
func wantAccessible(t *testing.T, p *Page, axe string) {
	t.Helper()
	eval[bool](t, p, axe+"; true")
	found := eval[[]string](t, p, `axe.run({resultTypes: ["violations"]}).then(result => result.violations.
		filter(v => v.tags.some(tag => /^wcag2\d?aa?$/.test(tag)) || ["serious", "critical"].includes(v.impact)).
		map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target.join(" ")).join(", ")))`)
	for _, violation := range found {
		t.Errorf("%s: axe-core: %s", eval[string](t, p, "location.pathname"), violation)
	}
}
