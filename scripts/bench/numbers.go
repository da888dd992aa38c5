// Numbers as people write them.

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// digits rounds to three digits, and keeps the zeros that were measured.
func digits(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// scaled writes f in the largest unit that leaves something before the point.
func scaled(f float64, units ...string) string {
	i := 0
	for ; f >= 999.5 && i < len(units)-1; i++ {
		f /= 1000
	}
	return digits(f) + " " + units[i]
}

func duration(ns float64) string { return scaled(ns, "ns", "µs", "ms", "s") }
func memory(b float64) string    { return scaled(b, "B", "kB", "MB", "GB") }
func plain(f float64) string     { return strconv.FormatFloat(f, 'f', -1, 64) }

// perSecond turns the nanoseconds of one event into events per second, to
// three digits.
func perSecond(ns float64) string {
	n := 1e9 / ns
	unit := math.Pow(10, max(0, math.Floor(math.Log10(n))-2))
	return grouped(int(math.Round(n/unit) * unit))
}

// grouped puts a comma between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
