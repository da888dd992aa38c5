// The picture: how something grows, drawn as SVG.

package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Panels stand side by side on white, which reads on any background.
const (
	columns                 = 3
	panelWidth, panelHeight = 200, 250 // inside the axes
	leftMargin, gap         = 70, 146  // the gap is for the names of lines and the labels of the next axis
	topMargin, bottomMargin = 56, 54
	footer                  = 24
)

// look is how an informer is drawn.
var look = map[string]struct{ color, marker string }{
	Theirs: {"#c2410c", `<rect x="-4" y="-4" width="8" height="8"/>`},
	Ours:   {"#1d4ed8", `<circle r="4.5"/>`},
}

// A Panel is one drawing: something, as something else grows. It is a time in
// nanoseconds, or a size in bytes.
type Panel struct {
	Title, XAxis string
	Bytes        bool
	X            []int
	Y            map[string][]float64 // for Theirs and for Ours: one for each X
}

func (p Panel) units() []string {
	if p.Bytes {
		return sizes
	}
	return times
}

// Picture draws panels, on log-log axes, with a line of text below.
func Picture(title, below string, panels []Panel) string {
	rows := (len(panels) + columns - 1) / columns
	width := leftMargin + min(len(panels), columns)*(panelWidth+gap) - gap/3
	rowHeight := topMargin + panelHeight + bottomMargin
	height := rows*rowHeight + footer
	d := &drawing{}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`, width, height, width, height)
	d.printf(` font-family="system-ui, sans-serif" font-size="14" fill="#1f2937" role="img">`)
	d.printf(`<title>%s</title>`, html.EscapeString(title))
	d.printf(`<rect width="%d" height="%d" rx="10" fill="#ffffff"/>`, width, height)
	for i, p := range panels {
		d.printf(`<g transform="translate(%d %d)">`, leftMargin+i%columns*(panelWidth+gap), topMargin+i/columns*rowHeight)
		d.panel(p)
		d.printf(`</g>`)
	}
	d.text(leftMargin, height-14, "start", `font-size="12" fill="#6b7280"`, below)
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
func (d *drawing) panel(p Panel) {
	lowest, highest := math.Inf(1), 0.0
	for _, line := range p.Y {
		for _, y := range line {
			lowest, highest = min(lowest, y), max(highest, y)
		}
	}
	x := decades(float64(p.X[0]), float64(p.X[len(p.X)-1]), panelWidth)
	y := decades(lowest, highest, panelHeight)
	d.text(panelWidth/2, -22, "middle", `font-weight="600" font-size="15"`, p.Title)
	d.text(panelWidth/2, panelHeight+40, "middle", ``, p.XAxis)
	d.axes(x, y, p.units())
	for _, informer := range []string{Theirs, Ours} {
		d.line(informer, p.X, p.Y[informer], x, y)
	}
	d.names(p, y)
}

// axes draws the grid with its labels: numbers below, units on the left.
func (d *drawing) axes(x, y scale, units []string) {
	for e := x.from; e <= x.to; e++ {
		at := x.at(math.Pow10(e))
		d.printf(`<path d="M%d 0V%d" stroke="#e5e7eb"/>`, at, panelHeight)
		d.text(at, panelHeight+20, "middle", `font-size="13"`, Grouped(int(math.Pow10(e))))
	}
	for e := y.from; e <= y.to; e++ {
		at := panelHeight - y.at(math.Pow10(e))
		d.printf(`<path d="M0 %dH%d" stroke="#e5e7eb"/>`, at, panelWidth)
		d.text(-8, at+4, "end", `font-size="13"`, power(e, units))
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

// names writes each informer's name and last value to the right of its line, and
// moves them apart where the lines end close together.
func (d *drawing) names(p Panel, y scale) {
	const room = 36
	last := len(p.X) - 1
	upper, lower := Theirs, Ours
	if p.Y[Ours][last] > p.Y[Theirs][last] {
		upper, lower = Ours, Theirs
	}
	top, bottom := panelHeight-y.at(p.Y[upper][last]), panelHeight-y.at(p.Y[lower][last])
	if short := room - (bottom - top); short > 0 {
		top, bottom = top-short/2, bottom+short/2
	}
	d.name(upper, scaled(p.Y[upper][last], p.units()), top)
	d.name(lower, scaled(p.Y[lower][last], p.units()), bottom)
}

func (d *drawing) name(informer, value string, at int) {
	color := fmt.Sprintf(`fill="%s"`, look[informer].color)
	d.text(panelWidth+10, at-2, "start", color+` font-weight="600"`, informer)
	d.text(panelWidth+10, at+14, "start", color, value)
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
