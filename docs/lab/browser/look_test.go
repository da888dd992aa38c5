//go:build browser

package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// looks are how the page is looked at: wide and narrow, dark and light.
var looks = map[string]Look{
	"wide, dark":          {},
	"wide, light":         {Light: true},
	"narrow, dark":        {Width: 390, Height: 844},
	"narrow, light":       {Width: 390, Height: 844, Light: true},
	"wide, dark, still":   {Still: true},
	"narrow, dark, still": {Width: 390, Height: 844, Still: true},
}

// Nobody has to scroll sideways, the legend is seen at once, a chip has a name, and
// all works at every size.
func TestEveryLook(t *testing.T) {
	program := serve(t)
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			p := visit(t, program.URL, look)
			pressed(t, p, "create", +1)
			if wide, width := eval[int](t, p, `document.documentElement.scrollWidth`),
				eval[int](t, p, `document.documentElement.clientWidth`); wide > width {
				t.Errorf("the page is %d pixels wide, the window %d", wide, width)
			}
			if !eval[bool](t, p, `(scrollTo(0, 0),
				document.querySelector("#legend").getBoundingClientRect().bottom < innerHeight / 2)`) {
				t.Error("the legend is not in the upper half of the window")
			}
			must.Do(t, p.Click("#pause"))
			for !eval[bool](t, p, `Boolean(document.querySelector("[data-chip]"))`) {
				must.Do(t, p.Click("#back"))
			}
			if wide := eval[float64](t, p, `document.querySelector("[data-chip]").offsetWidth`); wide < 50 {
				t.Errorf("a chip is %v pixels wide: no room for a name", wide)
			}
			must.Do(t, p.Click("#live"))
			if look.Still {
				if moving := eval[int](t, p, `document.getAnimations().filter(a =>
					new Set(a.effect?.getKeyframes().map(k => k.transform)).size > 1).length`); moving > 0 {
					t.Errorf("%d chips travel although the user prefers reduced motion", moving)
				}
			}
		})
	}
}

// axe-core finds nothing serious.
func TestAccessibility(t *testing.T) {
	axe := axeCore(t)
	program := serve(t)
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			p := visit(t, program.URL, look)
			must.Do(t, p.Press("create"))
			eval[bool](t, p, axe+"; true")
			found := eval[[]string](t, p, `axe.run().then(result => result.violations.
				filter(v => v.impact === "serious" || v.impact === "critical").
				map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.target.join(" ")).join(", ")))`)
			for _, violation := range found {
				t.Error(violation)
			}
		})
	}
}

// axeCore returns the text of axe-core, from npm.
func axeCore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, command := range []string{
		"npm pack --silent axe-core@4.14.0", "tar xzf axe-core-4.14.0.tgz package/axe.min.js",
	} {
		words := strings.Fields(command)
		run := exec.CommandContext(t.Context(), words[0], words[1:]...)
		run.Dir = dir
		if output, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "package", "axe.min.js"))
	must.Do(t, err)
	return string(text)
}
