// The picture: how it all grows with the number of objects.

package main

import "example.com/informer/scripts/bench/report"

// picture draws the rows that have a panel.
func picture(m *measured) string {
	var panels []report.Panel
	for _, r := range m.rows() {
		if r.panel == "" {
			continue
		}
		p := report.Panel{Title: r.panel, XAxis: "ConfigMaps", Bytes: r.unit.bytes, X: m.sizes, Y: map[string][]float64{}}
		for _, name := range names {
			for _, s := range m.bySize {
				p.Y[name] = append(p.Y[name], r.total(r.values(s.sides[name])))
			}
		}
		panels = append(panels, p)
	}
	return report.Picture("What a load costs, client-go's factory and ours", machine(m), panels)
}
