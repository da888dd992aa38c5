// Package fieldguide reproduces the symptoms of docs/field-guide.md and of the pages in
// docs/field-guide, and finds their log lines in the output of klog. klog is global, so no test
// here is parallel.
package fieldguide

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/features"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/must"
)

// A klogOutput is the output of klog during a test, or another text with lines of the guide.
type klogOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer, for klog.
func (o *klogOutput) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *klogOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// captureKlog captures the output of klog until the end of the test. The verbosity is the `-v` of a
// program.
func captureKlog(t *testing.T, verbosity int) *klogOutput {
	t.Helper()
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "v": strconv.Itoa(verbosity),
	} {
		must.NoError(t, flags.Set(name, value))
	}
	output := new(klogOutput)
	klog.SetOutput(output)
	return output
}

// readGuide returns the pages of the field guide, one after the other: its front page, and those in
// the folder beside it.
func readGuide() (string, error) {
	pages, err := filepath.Glob("../../field-guide/*.md")
	if err != nil {
		return "", err
	}
	var guide strings.Builder
	for _, page := range append(pages, "../../field-guide.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			return "", err
		}
		guide.Write(text)
	}
	return guide.String(), nil
}

// found has the lines of the guide that tests have found in a log.
var found = map[string]bool{}

// want waits until klog has written a line of the guide. In the guide, the line is in a log block.
// An `…` in it stands for a part that differs from run to run.
func (o *klogOutput) want(t *testing.T, line string) {
	t.Helper()
	guide, err := readGuide()
	must.NoError(t, err)
	if !strings.Contains(guide, "\n"+line+"\n") {
		t.Errorf("no page of the field guide has the line\n%s", line)
	}
	pattern := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$"
	expected := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(must.Patience); !expected.MatchString(o.String()); {
		if time.Now().After(deadline) {
			t.Fatalf("klog did not write\n%s\nin %v, but\n%s", line, must.Patience, o)
		}
		time.Sleep(10 * time.Millisecond)
	}
	found[line] = true
}

// wantNo fails if klog has written a text.
func (o *klogOutput) wantNo(t *testing.T, text string) {
	t.Helper()
	if output := o.String(); strings.Contains(output, text) {
		t.Errorf("klog has written %q, want no such text, in\n%s", text, output)
	}
}

// wantEmpty fails if klog has written anything.
func (o *klogOutput) wantEmpty(t *testing.T) {
	t.Helper()
	if output := o.String(); output != "" {
		t.Errorf("klog has written this, want nothing:\n%s", output)
	}
}

// A wholeGuide runs the tests, and also fails if there is a line in the guide's log blocks that no
// test has found. It does not check this if only some of the tests run.
type wholeGuide struct{ *testing.M }

var logBlock = regexp.MustCompile("(?ms)^```log\n(.*?)^```$")

// Run implements goleak.TestingM.
func (g wholeGuide) Run() int {
	if !isChild() { // the first use of a gate logs all gates, at -v=1: before the tests, not during one of them
		features.FeatureGates().Enabled(features.WatchListClient)
	}
	code := g.M.Run()
	if code != 0 || testing.Short() || flag.Lookup("test.run").Value.String() != "" {
		return code
	}
	guide, err := readGuide()
	if err != nil {
		panic(err)
	}
	for _, block := range logBlock.FindAllStringSubmatch(guide, -1) {
		for line := range strings.Lines(block[1]) {
			if line = strings.TrimSuffix(line, "\n"); !found[line] {
				fmt.Fprintf(os.Stderr, "the field guide: no test finds\n%s\n", line)
				code = 1
			}
		}
	}
	return code
}
