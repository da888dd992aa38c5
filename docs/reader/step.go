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
	needsCluster bool // as far as it is known before the program is built
}

var (
	transcriptFile = regexp.MustCompile(`^(\d\d-[\w-]+(?:/[\w-]+)?)/testdata/(\w+)\.txt$`)
	startLine      = regexp.MustCompile(`(?m)^\$ go run .*\n`) // what is above it prepares the step
	givenLine      = regexp.MustCompile(`(?m)^[$>] `)
	servedPage     = regexp.MustCompile(`(?m)^open http://ADDRESS(/[\w/]*)$`)
)

// findStep returns the step of a transcript. Its code is in a file of its own, or in main.go.
func (r *reader) findStep(transcript string) (s step, ok bool) {
	match := transcriptFile.FindStringSubmatch(transcript)
	if match == nil {
		return step{}, false
	}
	s = step{program: match[1], name: match[2], transcript: transcript}
	expected, err := r.read(transcript)
	if err != nil {
		return step{}, false
	}
	if page := servedPage.FindSubmatch(expected); page != nil {
		s.page = string(page[1])
	}
	played := expected
	if start := startLine.FindIndex(expected); start != nil {
		played = expected[start[1]:]
	}
	s.hasCommands = givenLine.Match(played)
	main, err := r.read(s.program + "/main.go")
	if err != nil {
		return step{}, false
	}
	s.ownModule = path.Dir(s.program) != "." && r.hasFile(s.program+"/go.mod")
	s.needsCluster = !s.ownModule && needsCluster(string(main), s.name)
	function := fmt.Sprintf("\nfunc step%s%s(", strings.ToUpper(s.name[:1]), s.name[1:])
	return s, r.hasFile(fmt.Sprintf("%s/step_%s.go", s.program, s.name)) || strings.Contains(string(main), function)
}

// needsCluster says whether the list of steps in main.go has a step of this name that needs a
// cluster: it is in a chapter that can connect to one, and is not marked as offline.
func needsCluster(main, step string) bool {
	entry := regexp.MustCompile(`\bName: "` + step + `",[^{}]*`).FindString(main) // a name has letters only
	return strings.Contains(main, "step.Chapter{") && entry != "" && !strings.Contains(entry, "Offline: true")
}

// hasKubeconfig says whether this clone has a cluster of its own.
func (r *reader) hasKubeconfig() bool {
	_, err := os.Stat(filepath.Join(r.root.Name(), ".cluster", "kubeconfig")) // .cluster may lie elsewhere
	return err == nil
}

// followed matches a command of the book that runs a step until Ctrl-C.
var followed = regexp.MustCompile(`(?m)^go run \./(\S+) (\w+) -follow\b`)

// findPage returns the step that a command of the book follows, if the step serves a web page.
func (r *reader) findPage(commands string) (s step, ok bool) {
	match := followed.FindStringSubmatch(commands)
	if match == nil {
		return step{}, false
	}
	s, ok = r.findStep(fmt.Sprintf("%s/testdata/%s.txt", match[1], match[2]))
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
