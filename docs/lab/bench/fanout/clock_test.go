// A process that says when a change is due.

package fanout

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// environment makes this program a clock, if it is set.
const environment = "INFORMER_BENCH_CLOCK"

// A clock is a process of its own that ticks, as a server sends. The informer
// cannot hold it up: a tick waits in a pipe, as a change would in a connection. (A
// timer of this process would be late while garbage is collected, which a
// connection is not: golang/go#45632.)
type clock struct {
	cmd *exec.Cmd
	in  io.Writer
	out io.Reader
	one [1]byte
}

// newClock returns a clock that does not tick yet.
func newClock(tb testing.TB) *clock {
	tb.Helper()
	c := &clock{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), environment+"=1")
	c.cmd.Stderr = os.Stderr
	in, inErr := c.cmd.StdinPipe()
	out, outErr := c.cmd.StdoutPipe()
	c.in, c.out = in, out
	for _, err := range []error{inErr, outErr, c.cmd.Start(), c.wait()} { // for the tick that says that it runs
		if err != nil {
			tb.Fatalf("starting a clock: %v", err)
		}
	}
	return c
}

// start lets it tick from then on.
func (c *clock) start(begin time.Time, every time.Duration) error {
	_, err := fmt.Fprintln(c.in, begin.UnixNano(), int64(every))
	return err
}

// wait waits for the next tick.
func (c *clock) wait() error {
	_, err := io.ReadFull(c.out, c.one[:])
	return err
}

func (c *clock) stop() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// serveClock is the whole of a process that is a clock. In any other process it
// returns at once.
func serveClock() {
	if os.Getenv(environment) == "" {
		return
	}
	var begin, every int64
	fmt.Print(".")
	if _, err := fmt.Scan(&begin, &every); err != nil {
		os.Exit(0) // nobody needs it any more
	}
	for due := time.Unix(0, begin); ; due = due.Add(time.Duration(every)) {
		for left := time.Until(due); left > 0; left = time.Until(due) {
			timeout := unix.NsecToTimeval(int64(left)) // time.Sleep may take a millisecond longer
			_, _ = unix.Select(0, nil, nil, nil, &timeout)
		}
		fmt.Print(".") // ends the process when nobody reads it any more
	}
}
