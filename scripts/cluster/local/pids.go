// The pids file: which processes belong to a control plane, written so that a
// later run can stop exactly these.

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"example.com/informer/scripts/cluster/internal/filelock"
)

// record is a line of the pids file. A pid alone proves nothing: when a process
// ends, its number is given away again. Together with its start time it does.
type record struct {
	Component Component `json:"component"`
	PID       int       `json:"pid"`
	Started   string    `json:"started"`
}

func (r record) id() record { return r }

func (r record) String() string { return fmt.Sprintf("%s (pid %d)", r.Component, r.PID) }

// errReused says that the recorded process has ended, and more.
var errReused = fmt.Errorf("its pid belongs to another process now: %w", os.ErrProcessDone)

// check returns nil if the recorded process, and no other, still runs,
// os.ErrProcessDone if it has ended, and another error if that cannot be known.
func (r record) check() error {
	now, err := startTime(r.PID)
	switch {
	case err != nil:
		return err
	case r.Started == "":
		return errors.New("its start time was not recorded")
	case r.Started != now:
		return errReused
	}
	return nil
}

// running reports whether the recorded process runs, or may run.
func (r record) running() bool { return !errors.Is(r.check(), os.ErrProcessDone) }

// signal reaches the recorded process or nobody: the handle is taken before
// the start time is compared, so the number cannot change hands in between.
func (r record) signal(s syscall.Signal) error {
	handle, err := os.FindProcess(r.PID)
	if err != nil {
		return err
	}
	defer handle.Release()
	if err := r.check(); err != nil {
		return err
	}
	return handle.Signal(s)
}

func pidsFile(dir string) string { return filepath.Join(dir, "pids") }

func writeRecords(dir string, list []record) error {
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return filelock.WriteFile(pidsFile(dir), append(b, '\n'), 0o600)
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
		return nil, fmt.Errorf("%s is damaged (%w): end the processes that it names by hand, then delete it",
			pidsFile(dir), err)
	}
	return list, nil
}

// removeRecords is fine with a pids file that is not there.
func removeRecords(dir string) error { return os.RemoveAll(pidsFile(dir)) }
