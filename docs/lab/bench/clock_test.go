// The clock of a schedule.

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.com/informer/scripts/harness/must"
)

// clockEnv is set in the environment of a process that is a clock.
const clockEnv = "INFORMER_BENCH_CLOCK"

// A clock is a process of its own that ticks, in the place of a server that sends changes. The
// informer cannot delay the clock: a tick waits in a pipe, as a change would wait in a
// connection. (A timer in this process would be late while garbage is collected: golang/go#45632.)
type clock struct {
	cmd  *exec.Cmd
	in   io.Writer
	out  io.Reader
	tick [1]byte // the buffer of wait
}

// newClock returns a clock that does not tick yet.
func newClock(tb testing.TB) *clock {
	tb.Helper()
	c := &clock{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), clockEnv+"=1")
	c.cmd.Stderr = os.Stderr
	var err error
	c.in, err = c.cmd.StdinPipe()
	must.NoError(tb, err)
	c.out, err = c.cmd.StdoutPipe()
	must.NoError(tb, err)
	if err := c.cmd.Start(); err != nil {
		tb.Fatalf("starting a clock: %v", err)
	}
	if err := c.wait(); err != nil { // the first tick says that the clock runs
		tb.Fatalf("waiting for a clock to start: %v", err)
	}
	return c
}

// start makes the clock tick at begin, and then once in each interval.
func (c *clock) start(begin time.Time, interval time.Duration) error {
	_, err := fmt.Fprintln(c.in, begin.UnixNano(), int64(interval))
	return err
}

// wait waits for the next tick.
func (c *clock) wait() error {
	_, err := io.ReadFull(c.out, c.tick[:])
	return err
}

func (c *clock) stop() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// serveClock is the main function of a process that is a clock. In other processes it returns
// immediately.
func serveClock() {
	if os.Getenv(clockEnv) == "" {
		return
	}
	var begin, interval int64
	fmt.Print(".")
	if _, err := fmt.Scan(&begin, &interval); err != nil {
		os.Exit(0) // the parent process has ended
	}
	for due := time.Unix(0, begin); ; due = due.Add(time.Duration(interval)) {
		for left := time.Until(due); left > 0; left = time.Until(due) {
			timeout := unix.NsecToTimeval(int64(left)) // time.Sleep may be late by a millisecond
			_, _ = unix.Select(0, nil, nil, nil, &timeout)
		}
		fmt.Print(".") // if the parent process has ended, this ends the clock
	}
}
