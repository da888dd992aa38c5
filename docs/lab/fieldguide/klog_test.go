// Package fieldguide makes each symptom of docs/field-guide.md happen, and finds
// its log line in what klog writes. klog is global: no test here is parallel.
package fieldguide

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// A klogOutput is what klog writes during a test.
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

// captureKlog takes what klog writes at a verbosity, as `-v` of a program sets it,
// until the end of the test.
func captureKlog(t *testing.T, verbosity int) *klogOutput {
	t.Helper()
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "v": strconv.Itoa(verbosity),
	} {
		must.Do(t, flags.Set(name, value))
	}
	output := new(klogOutput)
	klog.SetOutput(output)
	return output
}

// found are the lines of the guide that tests have found in a log.
var found = map[string]bool{}

// want waits until klog has written a line of the guide. The line stands there in a
// block of its own, and `…` stands for whatever differs from run to run.
func (o *klogOutput) want(t *testing.T, line string) {
	t.Helper()
	guide, err := os.ReadFile("../../field-guide.md")
	must.Do(t, err)
	expect.That(t, strings.Contains(string(guide), "\n"+line+"\n"), "docs/field-guide.md has no line\n%s", line)
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

// A wholeGuide is a run of tests that fails, too, if no test has found a line of the
// guide's log blocks. It is content if only some tests were to run.
type wholeGuide struct{ *testing.M }

var logBlock = regexp.MustCompile("(?ms)^```log\n(.*?)^```$")

// Run implements goleak.TestingM.
func (g wholeGuide) Run() int {
	code := g.M.Run()
	if code != 0 || testing.Short() || flag.Lookup("test.run").Value.String() != "" {
		return code
	}
	guide, err := os.ReadFile("../../field-guide.md")
	if err != nil {
		panic(err)
	}
	for _, block := range logBlock.FindAllStringSubmatch(string(guide), -1) {
		for line := range strings.Lines(block[1]) {
			if line = strings.TrimSuffix(line, "\n"); !found[line] {
				fmt.Fprintf(os.Stderr, "docs/field-guide.md: no test finds\n%s\n", line)
				code = 1
			}
		}
	}
	return code
}
