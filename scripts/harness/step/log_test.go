package step

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"k8s.io/klog/v2"
)

// On a terminal, a line of klog says what it is.
func TestTheLogOnATerminal(t *testing.T) {
	defer klog.CaptureState().Restore()
	var terminal bytes.Buffer
	markLog(&terminal)
	klog.ErrorS(errors.New("the reason"), "Failed to watch")
	klog.Warning("watch ended")
	want := regexp.MustCompile(`^\x1b\[2mclient-go's log: E\d{4} .*"Failed to watch" err="the reason"\x1b\[0m\n` +
		`\x1b\[2mclient-go's log: .*watch ended.*\x1b\[0m\n$`)
	if got := terminal.String(); !want.MatchString(got) {
		t.Errorf("the terminal gets %q, want %s", got, want)
	}
}
