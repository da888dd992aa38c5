// Which steps there are, and how they are started.

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// endTimeout is how long a step may take to remove what it has made, before it is killed.
const endTimeout = 30 * time.Second

// A step is what Run plays.
type step struct {
	program string // its folder, such as 05-watchdog
	name    string
}

var transcriptFile = regexp.MustCompile(`^(\d\d-[\w-]+(?:/[\w-]+)?)/testdata/(\w+)\.txt$`)

// findStep returns the step of a transcript. The programs below a chapter that are modules of their
// own are not in go.work, and are not found.
func (r *reader) findStep(transcript string) (step, bool) {
	match := transcriptFile.FindStringSubmatch(transcript)
	if match == nil || !r.hasFile(transcript) {
		return step{}, false
	}
	s := step{program: match[1], name: match[2]}
	isOwnModule := path.Dir(s.program) != "." && r.hasFile(s.program+"/go.mod")
	hasCode := r.hasFile(s.program+"/main.go") && r.hasFile(fmt.Sprintf("%s/step_%s.go", s.program, s.name))
	return s, hasCode && !isOwnModule
}

func (r *reader) canRun(transcript string) bool {
	_, ok := r.findStep(transcript)
	return ok
}

// command returns a command in the workspace. At the end of ctx it is interrupted, as by Ctrl-C. It
// is in a process group of its own, so that Ctrl-C in the terminal does not reach it twice.
func (r *reader) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = r.root.Name()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = endTimeout
	return command
}

// build builds the program of a step, and returns its path. (`go run` would not pass on a signal.)
func (r *reader) build(ctx context.Context, s step) (program string, err error) {
	program = filepath.Join(r.programs, strings.ReplaceAll(s.program, "/", "-"))
	output, err := r.command(ctx, "go", "build", "-o", program, "./"+s.program).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s does not compile:\n%s", s.program, output)
	}
	return program, nil
}
