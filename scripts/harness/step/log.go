// The log on a terminal.

package step

import (
	"bytes"
	"io"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// markLog lets klog write to a terminal, in a way that nobody takes for the output or the failure of
// a step: its lines are dimmed, and say what they are.
func markLog(terminal io.Writer) {
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(dimmed{terminal}))))
}

// A dimmed writer gets whole lines.
type dimmed struct{ terminal io.Writer }

// Write implements io.Writer.
func (d dimmed) Write(p []byte) (int, error) {
	const begin, end = "\x1b[2mclient-go's log: ", "\x1b[0m\n"
	_, err := d.terminal.Write([]byte(begin + string(bytes.TrimSuffix(p, []byte("\n"))) + end))
	return len(p), err
}
