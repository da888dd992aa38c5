// Stopping processes: asked first, then killed, and never waited for without end.

package local

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// target is a process to stop: a child of this one, or one that an earlier
// process started and recorded.
type target interface {
	id() record
	running() bool
	signal(syscall.Signal) error
}

const (
	grace     = 5 * time.Second // between SIGTERM and SIGKILL, and from then to giving up
	lookEvery = 20 * time.Millisecond
)

// ErrNotStopped says that processes of a control plane may still run. Their
// records are kept.
var ErrNotStopped = errors.New("the control plane was not stopped")

func notStopped(dir string, err error) error {
	return fmt.Errorf("%w (in %s): %w", ErrNotStopped, dir, err)
}

// stop ends the processes of list. etcd goes last: the API server still writes
// to it while it shuts down.
func stop(list []target) error {
	var first, last []target
	for _, t := range list {
		if t.id().Component == Etcd {
			last = append(last, t)
		} else {
			first = append(first, t)
		}
	}
	return errors.Join(end(first), end(last))
}

// end asks all to end at once, and kills those that have not after the grace.
func end(list []target) error {
	for _, t := range list {
		_ = t.signal(syscall.SIGTERM)
		_ = t.signal(syscall.SIGCONT) // a process that was stopped by SIGSTOP sees SIGTERM only then
	}
	return kill(stillRunning(list, grace))
}

// kill sends SIGKILL and returns when all are gone, or with an error that says
// which are not.
func kill(list []target) error {
	var refused error
	for _, t := range list {
		if err := t.signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
			refused = errors.Join(refused, err)
		}
	}
	var names, pids []string
	for _, t := range stillRunning(list, grace) {
		names = append(names, t.id().String())
		pids = append(pids, strconv.Itoa(t.id().PID))
	}
	if names == nil {
		return nil
	}
	err := fmt.Errorf("%s has not ended %s after SIGKILL\n"+
		"see what holds it up, with ps -o pid,stat,wchan,args -p %s; then stop again",
		strings.Join(names, ", "), grace, strings.Join(pids, ","))
	return errors.Join(err, refused)
}

// stillRunning waits until all have ended, or limit has passed, and returns those
// that have not.
func stillRunning(list []target, limit time.Duration) []target {
	for deadline := time.Now().Add(limit); ; time.Sleep(lookEvery) {
		list = slices.DeleteFunc(slices.Clone(list), func(t target) bool { return !t.running() })
		if len(list) == 0 || time.Now().After(deadline) {
			return list
		}
	}
}
