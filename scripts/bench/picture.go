// The picture: how the cost grows, drawn as SVG.

package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// All panels stand side by side on white, which reads on any background.
const (
	panelWidth, panelHeight = 200, 250 // inside the axes
	leftMargin, gap         = 70, 146  // the gap is for the names of lines and the labels of the next axis
	topMargin, footer       = 56, 78
)

// look is how an informer is drawn.
var look = map[string]struct{ color, marker string }{
	theirs: {"#c2410c", `<rect x="-4" y="-4" width="8" height="8"/>`},
	ours:   {"#1d4ed8", `<circle r="4.5"/>`},
}

// picture draws the medians of each panel's benchmarks, on log-log axes.
func picture(m *measured, panels []panel) string {
	width := leftMargin + len(panels)*(panelWidth+gap) - gap/3
	height := topMargin + panelHeight + footer
	d := &drawing{}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`, width, height, width, height)
	d.printf(` font-family="system-ui, sans-serif" font-size="14" fill="#1f2937" role="img">`)
	d.printf(`<title>How the cost of an event and of the first list grows, client-go's informer and ours</title>`)
	d.printf(`<rect width="%d" height="%d" rx="10" fill="#ffffff"/>`, width, height)
	for i, p := range panels {
		d.printf(`<g transform="translate(%d %d)">`, leftMargin+i*(panelWidth+gap), topMargin)
		d.panel(m, p)
		d.printf(`</g>`)
	}
	d.text(leftMargin, height-14, "start", `font-size="12" fill="#6b7280"`, machine(m))
	d.printf("</svg>\n")
	return d.String()
}

// A drawing is the SVG so far.
type drawing struct{ strings.Builder }

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func (d *drawing) text(x, y int, anchor, attributes, text string) {
	d.printf(`<text x="%d" y="%d" text-anchor="%s" %s>%s</text>`+"\n", x, y, anchor, attributes, html.EscapeString(text))
}

// panel draws axes that end at powers of ten, and a line for each informer.
func (d *drawing) panel(m *measured, p panel) {
	lines := map[string][]float64{}
	lowest, highest := math.Inf(1), 0.0
	for _, informer := range []string{theirs, ours} {
		for _, bench := range p.bench {
			y := m.median(bench, informer, "ns/op")
			lines[informer] = append(lines[informer], y)
			lowest, highest = min(lowest, y), max(highest, y)
		}
	}
	x := decades(float64(p.x[0]), float64(p.x[len(p.x)-1]), panelWidth)
	y := decades(lowest, highest, panelHeight)
	d.text(panelWidth/2, -22, "middle", `font-weight="600" font-size="15"`, p.title)
	d.text(panelWidth/2, panelHeight+40, "middle", ``, p.xAxis)
	d.axes(x, y)
	for _, informer := range []string{theirs, ours} {
		d.line(informer, p.x, lines[informer], x, y)
	}
	d.names(lines, len(p.x)-1, y)
}

// axes draws the grid with its labels: numbers below, times on the left.
func (d *drawing) axes(x, y scale) {
	for e := x.from; e <= x.to; e++ {
		at := x.at(math.Pow10(e))
		d.printf(`<path d="M%d 0V%d" stroke="#e5e7eb"/>`, at, panelHeight)
		d.text(at, panelHeight+20, "middle", `font-size="13"`, grouped(int(math.Pow10(e))))
	}
	for e := y.from; e <= y.to; e++ {
		at := panelHeight - y.at(math.Pow10(e))
		d.printf(`<path d="M0 %dH%d" stroke="#e5e7eb"/>`, at, panelWidth)
		d.text(-8, at+4, "end", `font-size="13"`, power(e))
	}
	d.printf(`<path d="M0 0V%dH%d" fill="none" stroke="#6b7280"/>`+"\n", panelHeight, panelWidth)
}

// line draws one informer's points and what connects them.
func (d *drawing) line(informer string, xs []int, ys []float64, x, y scale) {
	style := look[informer]
	var path strings.Builder
	d.printf(`<g fill="%s">`, style.color)
	for i := range xs {
		px, py := x.at(float64(xs[i])), panelHeight-y.at(ys[i])
		fmt.Fprintf(&path, "%d,%d ", px, py)
		d.printf(`<g transform="translate(%d %d)">%s</g>`, px, py, style.marker)
	}
	d.printf(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/></g>`+"\n", strings.TrimSpace(path.String()), style.color)
}

// names writes each informer's name and last time to the right of its line, and
// moves them apart where the lines end close together.
func (d *drawing) names(lines map[string][]float64, last int, y scale) {
	const room = 36
	upper, lower := theirs, ours
	if lines[ours][last] > lines[theirs][last] {
		upper, lower = ours, theirs
	}
	top, bottom := panelHeight-y.at(lines[upper][last]), panelHeight-y.at(lines[lower][last])
	if short := room - (bottom - top); short > 0 {
		top, bottom = top-short/2, bottom+short/2
	}
	d.name(upper, lines[upper][last], top)
	d.name(lower, lines[lower][last], bottom)
}

func (d *drawing) name(informer string, ns float64, at int) {
	color := fmt.Sprintf(`fill="%s"`, look[informer].color)
	d.text(panelWidth+10, at-2, "start", color+` font-weight="600"`, informer)
	d.text(panelWidth+10, at+14, "start", color, duration(ns))
}

// A scale maps powers of ten to pixels.
type scale struct{ from, to, length int }

// decades returns the scale from the power of ten below low to the one above high.
func decades(low, high float64, length int) scale {
	from := int(math.Floor(math.Log10(low)))
	return scale{from, max(from+1, int(math.Ceil(math.Log10(high)))), length}
}

func (s scale) at(value float64) int {
	return int(math.Round((math.Log10(value) - float64(s.from)) / float64(s.to-s.from) * float64(s.length)))
}

// power writes 10^e nanoseconds.
func power(e int) string {
	units := []string{"ns", "µs", "ms", "s"}
	unit := min(e/3, len(units)-1)
	return fmt.Sprintf("%s %s", grouped(int(math.Pow10(e-3*unit))), units[unit])
}
