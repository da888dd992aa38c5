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
type logger struct{ progress io.Writer }

func (l logger) Warn(string)          {}
func (l logger) Warnf(string, ...any) {}
func (l logger) Error(message string) { fmt.Fprintln(l.progress, "kind:", strings.TrimSpace(message)) }
func (l logger) Errorf(f string, args ...any) {
	l.Error(fmt.Sprintf(f, args...))
}

func (l logger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return steps(l)
}

type steps struct{ progress io.Writer }

func (s steps) Enabled() bool               { return true }
func (s steps) Infof(f string, args ...any) { s.Info(fmt.Sprintf(f, args...)) }

func (s steps) Info(message string) {
	step, begins := strings.CutPrefix(strings.TrimSpace(message), "• ")
	if !begins {
		return
	}
	step = strings.TrimRight(step, " .")
	step = strings.TrimRightFunc(step, func(r rune) bool { return r > unicode.MaxASCII || r == ' ' })
	fmt.Fprintln(s.progress, "kind:", step)
}
