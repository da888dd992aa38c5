// The pids file: which processes belong to a control plane, written so that a
// later run can stop exactly these.
package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// record is a line of the pids file. A pid alone proves nothing: when a process
// ends, its number is given away again. Together with its start time it does.
type record struct {
	Component  Component `json:"component"`
	PID        int       `json:"pid"`
	Started    string    `json:"started"`
	Executable string    `json:"executable"`
}

const (
	grace     = 5 * time.Second // between SIGTERM and SIGKILL
	lookEvery = 20 * time.Millisecond
)

// running reports whether the recorded process, and no other, still runs.
func (r record) running() bool {
	now, ok := startTime(r.PID)
	return ok && now == r.Started
}

// signal reaches the recorded process or nobody: the handle is taken before
// the start time is compared, so the number cannot change hands in between.
func (r record) signal(signals ...syscall.Signal) error {
	handle, err := os.FindProcess(r.PID)
	if err != nil {
		return err
	}
	defer handle.Release()
	if !r.running() {
		return os.ErrProcessDone
	}
	for _, s := range signals {
		if err := handle.Signal(s); err != nil {
			return err
		}
	}
	return nil
}

func pidsFile(dir string) string { return filepath.Join(dir, "pids") }

func writeRecords(dir string, list []record) error {
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(pidsFile(dir), append(b, '\n'))
}

// readRecords returns nil where there is no pids file.
func readRecords(dir string) ([]record, error) {
	b, err := os.ReadFile(pidsFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []record
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): end the processes that it names by hand, then delete it", pidsFile(dir), err)
	}
	return list, nil
}

// stopRecorded ends the processes of list and then removes the pids file. etcd
// goes last: the API server still writes to it while it shuts down.
func stopRecorded(dir string, list []record, progress io.Writer) error {
	var first, last []record
	for _, r := range list {
		if _, taken := startTime(r.PID); taken && !r.running() {
			fmt.Fprintf(progress, "pid %d was %s and is another process now: left alone\n", r.PID, r.Component)
		} else if r.Component == Etcd {
			last = append(last, r)
		} else {
			first = append(first, r)
		}
	}
	if err := errors.Join(end(first), end(last)); err != nil {
		return err
	}
	if err := os.Remove(pidsFile(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// end asks all to end at once, and kills those that have not after the grace.
func end(list []record) error {
	for _, r := range list {
		// A process that was stopped by SIGSTOP sees SIGTERM only after SIGCONT.
		_ = r.signal(syscall.SIGTERM, syscall.SIGCONT)
	}
	if goneWithin(list, grace) {
		return nil
	}
	for _, r := range list {
		_ = r.signal(syscall.SIGKILL)
	}
	if goneWithin(list, grace) {
		return nil
	}
	return fmt.Errorf("these processes do not end, even after SIGKILL: %v", list)
}

func goneWithin(list []record, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for {
		alive := false
		for _, r := range list {
			alive = alive || r.running()
		}
		if !alive {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(lookEvery)
	}
}
