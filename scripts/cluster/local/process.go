// Processes of this control plane: starting one, noticing its end, and what it
// said last.

package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// process is a child of this one. Until it has been reaped, its pid is its own:
// no start time has to prove that.
type process struct {
	record
	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed when it has ended and been reaped
	err   error         // how it ended; read after ended
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// errPortBusy marks a component that ended because its port was taken.
var errPortBusy = errors.New("the port is taken by another process")

// launch starts components and records them.
func (cp *ControlPlane) launch(components ...Component) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	for _, c := range components {
		if p := cp.processes[c]; p != nil && p.running() {
			return fmt.Errorf("%s is running already, pid %d", c, p.PID)
		}
		path, args := cp.command(c)
		p, err := cp.startProcess(c, path, args)
		if err != nil {
			return fmt.Errorf("start %s: %w", c, err)
		}
		cp.processes[c] = p
		if err := writeRecords(cp.opts.Dir, cp.records()); err != nil {
			return err
		}
	}
	return nil
}

// records lists the processes that were started, but for those without a start
// time, which had ended before it could be read. The caller holds mu.
func (cp *ControlPlane) records() []record {
	var list []record
	for _, c := range all {
		if p := cp.processes[c]; p != nil && p.Started != "" {
			list = append(list, p.record)
		}
	}
	return list
}

// startProcess starts path in a session of its own, so that Ctrl-C in the
// terminal does not reach it, with its output appended to the component's log.
func (cp *ControlPlane) startProcess(c Component, path string, args []string) (*process, error) {
	log := filepath.Join(logDir(cp.opts.Dir), string(c)+".log")
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = dataDir(cp.opts.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cp.binaries.use != nil {
		cmd.ExtraFiles = []*os.File{cp.binaries.use}
	}
	if !cp.opts.Detached {
		dieWithParent(cmd.SysProcAttr)
	}

	p := &process{cmd: cmd, log: log, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux takes the thread that started a process for its parent: a
		// thread that ends early would take the process with it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.record = record{Component: c, PID: cmd.Process.Pid}
			err = p.identify()
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.ended)
		}
	}()
	return p, <-started
}

// readStartTime is startTime; a test has it fail.
var readStartTime = startTime

// identify completes the record of a process that was just started. One
// that no later run could stop must not be: it is killed at once.
func (p *process) identify() (err error) {
	p.Started, err = readStartTime(p.PID)
	if err == nil || errors.Is(err, os.ErrProcessDone) {
		return nil // if it has ended already, its log says why
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	return fmt.Errorf("read its start time, by which a later run knows it again (Linux needs /proc for that): %w", err)
}

// ended returns an error if one of the components has ended by itself.
func (cp *ControlPlane) ended(components []Component) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	for _, c := range components {
		if p := cp.processes[c]; p != nil && !p.running() {
			return p.failure()
		}
	}
	return nil
}

// failure says that the process ended by itself, with its last words.
func (p *process) failure() error {
	last := lastLines(p.log)
	cause := p.err
	if cause == nil {
		cause = errors.New("exit status 0")
	}
	if strings.Contains(last, "address already in use") {
		cause = errPortBusy
	}
	return fmt.Errorf("%s ended: %w; its last lines:\n%sthe whole log: %s", p.Component, cause, last, p.log)
}

// lastLines returns the end of a log, indented: at most ten lines, each cut
// where it gets too long to read.
func lastLines(log string) string {
	const lines, width = 10, 300
	b, err := os.ReadFile(log)
	if err != nil {
		return "  (" + err.Error() + ")\n"
	}
	if len(b) == 0 {
		return "  (it said nothing)\n"
	}
	said := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	var out strings.Builder
	for _, l := range said[max(0, len(said)-lines):] {
		fmt.Fprintf(&out, "  %s\n", l[:min(len(l), width)])
	}
	return out.String()
}
