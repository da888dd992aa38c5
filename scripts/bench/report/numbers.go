// Package report writes what was measured of client-go's informer and of ours,
// as a table and as a picture.
package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The two that are compared.
const (
	Theirs = "client-go"
	Ours   = "ours"
)

// Median of some values; there must be one.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Digits rounds to three digits, and keeps the zeros that were measured.
func Digits(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// scaled writes f in the largest unit that leaves something before the point.
func scaled(f float64, units []string) string {
	i := 0
	for ; f >= 999.5 && i < len(units)-1; i++ {
		f /= 1000
	}
	return Digits(f) + " " + units[i]
}

// Units, each a thousand of the one before.
var (
	times = []string{"ns", "µs", "ms", "s"}
	sizes = []string{"B", "kB", "MB", "GB"}
)

// Duration writes nanoseconds.
func Duration(ns float64) string { return scaled(ns, times) }

// Memory writes bytes.
func Memory(b float64) string { return scaled(b, sizes) }

// Plain writes a number as it is.
func Plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// PerSecond turns the nanoseconds of one event into events per second, to
// three digits.
func PerSecond(ns float64) string {
	n := 1e9 / ns
	unit := math.Pow(10, max(0, math.Floor(math.Log10(n))-2))
	return Grouped(int(math.Round(n/unit) * unit))
}

// Grouped puts a comma between thousands.
func Grouped(n int) string {
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

// power writes 10^e of the first unit.
func power(e int, units []string) string {
	unit := min(e/3, len(units)-1)
	return fmt.Sprintf("%s %s", Grouped(int(math.Pow10(e-3*unit))), units[unit])
}
