// Package report reads the results of benchmarks of client-go and of our code with the packages behind
// benchstat, and makes tables that compare them.
package report

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/perf/benchunit"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Theirs is client-go's implementation. The last part of a benchmark's name is informer= and the name
// of an implementation.
const Theirs = "client-go"

// Main is the main function of a program that reads results from standard input and prints a table. With
// the argument "head", it prints what to write above the results: a line about the machine, and head.
func Main(head string, table func(*Results) (string, error)) {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: %s head       print what stands above the results\n"+
			"       %[1]s <RESULTS   print the table of the results of benchmarks\n", filepath.Base(os.Args[0]))
	}
	flag.Parse()
	var text string
	var err error
	switch args := flag.Args(); {
	case slices.Equal(args, []string{"head"}):
		text, err = Machine()
		text = "machine: " + text + "\n" + head
	case len(args) == 0:
		text, err = read(table)
	default:
		err = fmt.Errorf("unknown arguments %q: it takes \"head\", or results on standard input", args)
	}
	fmt.Print(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(table func(*Results) (string, error)) (string, error) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return "", err
	}
	results, err := Read(string(text))
	if err != nil {
		return "", err
	}
	return table(results)
}

// Machine returns a line with the date, the machine, and the versions of Go and client-go.
func Machine() (string, error) {
	clientGo, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go").Output()
	if err != nil {
		return "", fmt.Errorf("asking go list for the version of client-go: %w", err)
	}
	return fmt.Sprintf("%s: %s, %d cores, %s/%s, %s, client-go %s", time.Now().Format(time.DateOnly),
		cmp.Or(cpuid.CPU.BrandName, "an unknown processor"), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), strings.TrimSpace(string(clientGo))), nil
}

// Value returns a value with four digits and its unit: 81.09ms for p50-sec, 1.650GiB for held-B,
// 110.2B for B/pod. A count has all of its digits, unless it is a count per second.
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

// Count returns a number with a comma between thousands.
func Count[N int | float64](n N) string {
	return message.NewPrinter(language.English).Sprint(n)
}

// Align returns the lines with their cells in columns. A line of one cell is a heading: the lines
// below it have columns of their own.
func Align(lines [][]string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // it writes to memory
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text.String(), "")
}
