// Package report makes tables of what was measured of client-go's and of ours:
// of results in the format of Go benchmarks, with the packages behind benchstat.
package report

import (
	"cmp"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/perf/benchunit"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// The two that are compared: the last part of a benchmark's name.
const (
	Theirs = "client-go"
	Ours   = "ours"
)

// Machine says where and with what this program measures.
func Machine() (string, error) {
	clientGo, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go").Output()
	if err != nil {
		return "", fmt.Errorf("asking go list for the version of client-go: %w", err)
	}
	return fmt.Sprintf("%s: %s, %d cores, %s/%s, %s, client-go %s", time.Now().Format(time.DateOnly),
		cmp.Or(cpuid.CPU.BrandName, "an unknown processor"), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), strings.TrimSpace(string(clientGo))), nil
}

// Value writes a value to four digits, in the unit that the name of its unit
// ends with, or has before a slash: 81.09ms for p50-sec, 1.650GiB for held-B,
// 110.2B for B/pod. A count is written in full, unless it is one per second.
func Value(value float64, unit string) string {
	unit, per, _ := strings.Cut(unit, "/")
	switch unit[strings.LastIndex(unit, "-")+1:] {
	case "sec":
		return benchunit.Scale(value, benchunit.Decimal) + "s"
	case "B":
		return benchunit.Scale(value, benchunit.Binary) + "B"
	}
	if per == "s" {
		return benchunit.Scale(value, benchunit.Decimal)
	}
	return Count(value)
}

// Count writes a number with a comma between thousands.
func Count[N int | float64](n N) string {
	return message.NewPrinter(language.English).Sprint(n)
}

// Align puts the cells of lines into columns. A line of one cell is a heading:
// below it columns begin anew.
func Align(lines [][]string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	w.Flush()
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text.String(), "")
}
