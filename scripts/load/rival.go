// A subject, seen from outside.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"example.com/informer/scripts/load/subject"
)

// A rival is the process of one subject.
type rival struct {
	name    string
	cmd     *exec.Cmd
	orders  io.WriteCloser
	reports *json.Decoder
	said    bytes.Buffer // on its standard error
	closed  bool
}

// newRival starts this same program as a subject, and returns when that has
// synced. Close ends it; so does the end of ctx, and that of this program.
func newRival(ctx context.Context, s subject.Settings) (*rival, subject.Report, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, subject.Report{}, err
	}
	r := &rival{name: s.Factory, cmd: exec.CommandContext(ctx, program)}
	r.cmd.Env = append(os.Environ(), subject.Environment(s))
	r.cmd.Stderr = &r.said
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in the terminal is for us alone
	r.cmd.WaitDelay = 10 * time.Second
	if r.orders, err = r.cmd.StdinPipe(); err != nil {
		return nil, subject.Report{}, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, subject.Report{}, err
	}
	r.reports = json.NewDecoder(out)
	if err := r.cmd.Start(); err != nil {
		return nil, subject.Report{}, fmt.Errorf("starting %s in a process of its own: %w", s.Factory, err)
	}
	first, err := r.report()
	return r, first, err
}

// do has an order obeyed.
func (r *rival) do(o subject.Order) (subject.Report, error) {
	if err := json.NewEncoder(r.orders).Encode(o); err != nil {
		return subject.Report{}, r.failed(err)
	}
	return r.report()
}

func (r *rival) report() (report subject.Report, err error) {
	if err := r.reports.Decode(&report); err != nil {
		return report, r.failed(err)
	}
	return report, nil
}

// failed ends a process that does not answer as it should, and says why.
func (r *rival) failed(err error) error {
	if ended := r.Close(); ended != nil {
		err = ended
	}
	return fmt.Errorf("the process of %s failed: %w", r.name, err)
}

// Close ends the process. If it has failed, the error is the last that it said.
// To close twice is fine.
func (r *rival) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	_ = r.orders.Close() // that ends it
	err := r.cmd.Wait()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(r.said.String()), "\n")
	return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
}
