// Turning what kind says while it works into short progress lines.

package kind

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"sigs.k8s.io/kind/pkg/log"
)

// logger shows the steps that kind begins and its errors; that a step is done
// shows in the next one beginning.
type logger struct {
	log.NoopLogger // for its warnings
	progress       io.Writer
}

func (l logger) Error(message string)         { fmt.Fprintln(l.progress, "kind:", strings.TrimSpace(message)) }
func (l logger) Errorf(f string, args ...any) { l.Error(fmt.Sprintf(f, args...)) }

func (l logger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return l
}

func (l logger) Enabled() bool               { return true }
func (l logger) Infof(f string, args ...any) { l.Info(fmt.Sprintf(f, args...)) }

func (l logger) Info(message string) {
	step, begins := strings.CutPrefix(strings.TrimSpace(message), "• ")
	if !begins {
		return
	}
	step = strings.TrimRight(step, " .")
	step = strings.TrimRightFunc(step, func(r rune) bool { return r > unicode.MaxASCII || r == ' ' })
	fmt.Fprintln(l.progress, "kind:", step)
}
