// Which steps there are, and how they are started.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"example.com/informer/scripts/harness/step/manifest"
)

// endTimeout is how long a step may take to remove what it has made, before it is killed.
const endTimeout = 30 * time.Second

// A step is what Run plays.
type step struct {
	program    string // its folder, such as 05-watchdog
	name       string
	page       string // the path of the web page that it serves, such as /xray; "" if there is none
	transcript string // the file
	ownModule  bool   // the program is a module outside go.work

	hasCommands  bool // its transcript has commands, or actions, for the step while it runs
	needsCluster bool
}

var servedPage = regexp.MustCompile(`(?m)^open http://ADDRESS(/[\w/]*)$`)

func (r *reader) findStep(transcript string) (s step, ok bool) {
	steps, err := manifest.Read(r.root.FS())
	if err != nil {
		return step{}, false
	}
	folder, file := path.Split(transcript)
	program, inTestdata := strings.CutSuffix(folder, "/testdata/")
	name, isText := strings.CutSuffix(file, ".txt")
	listed, ok := steps.Find(program, name)
	if !ok || !inTestdata || !isText {
		return step{}, false
	}
	expected, err := r.read(transcript)
	if err != nil {
		return step{}, false
	}
	s = step{program: program, name: name, transcript: transcript, hasCommands: listed.HasCommands}
	if page := servedPage.FindSubmatch(expected); page != nil {
		s.page = string(page[1])
	}
	s.ownModule = manifest.InOwnModule(r.root.FS(), program)
	s.needsCluster = listed.NeedsCluster && !s.ownModule // such a program makes a cluster of its own
	return s, true
}

// hasKubeconfig reports whether this clone has a cluster of its own.
func (r *reader) hasKubeconfig() bool {
	_, err := os.Stat(filepath.Join(r.root.Name(), ".cluster", "kubeconfig")) // .cluster may lie elsewhere
	return err == nil
}

// startsXRay matches the command of the book that starts X-ray.
var startsXRay = regexp.MustCompile(`(?m)^scripts/xray\.sh\b`)

// findPage returns the step whose web page a command of the book opens.
func (r *reader) findPage(commands string) (s step, ok bool) {
	if !startsXRay.MatchString(commands) {
		return step{}, false
	}
	s, ok = r.findStep("docs/xray/testdata/xray.txt")
	return s, ok && s.page != ""
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

// run runs a command, which ends with the reader even if the reader is killed: a shell waits for the
// end of its standard input, and interrupts the command then. A last line says that there is nothing
// left to interrupt.
func (r *reader) run(command *exec.Cmd) error {
	guard := exec.Command("sh", "-c", `read -r group && { read -r _ || kill -INT "-$group"; }`)
	guard.SysProcAttr = command.SysProcAttr
	lines, err := guard.StdinPipe()
	if err != nil {
		return err
	}
	if err := guard.Start(); err != nil {
		return err
	}
	defer func() {
		lines.Close()
		_ = guard.Wait()
	}()
	if err := command.Start(); err != nil {
		return err
	}
	fmt.Fprintln(lines, command.Process.Pid)
	defer fmt.Fprintln(lines, "ended")
	return command.Wait()
}

// build builds the program of a step, and returns its path. (`go run` would not pass on a signal.)
func (r *reader) build(ctx context.Context, s step) (program string, err error) {
	program = filepath.Join(r.programs, strings.ReplaceAll(s.program, "/", "-"))
	build := r.command(ctx, "go", "build", "-o", program, "./"+s.program)
	if s.ownModule { // as its page says: with -trimpath it shares what the cluster was built from
		build = r.command(ctx, "go", "build", "-trimpath", "-o", program, ".")
		build.Dir = filepath.Join(build.Dir, s.program)
		build.Env = append(build.Environ(), "GOWORK=off")
	}
	var output bytes.Buffer
	build.Stdout, build.Stderr = &output, &output
	if err := r.run(build); err != nil {
		return "", fmt.Errorf("%s does not compile:\n%s", s.program, &output)
	}
	return program, nil
}
