// Helpers that run a program that is tested, such as a chapter, in another process.

package must

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Env is the environment variable of a process that is to run the program, not its tests.
const Env = "RUN_PROGRAM"

// Program runs the main function of the program if Env is set, and exits. TestMain calls it first.
func Program(main func()) {
	if os.Getenv(Env) != "" {
		main()
		os.Exit(0)
	}
}

// Command returns a command that runs the program. The end of the test kills it.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), Env+"=1")
	return cmd
}

// CommandOutside is Command in a folder outside of the workspace, with an environment that names no
// cluster.
func CommandOutside(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := Command(t, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{Env + "=1", "HOME=" + cmd.Dir}
	return cmd
}

// ExitWith runs the program, and returns its stderr. It wants this exit code, and each of these texts
// on stderr. If the code is 0, stderr must be empty; else it must have one or two lines.
func ExitWith(t testing.TB, cmd *exec.Cmd, code int, texts ...string) (stderr string) {
	t.Helper()
	var buffer bytes.Buffer
	cmd.Stderr = &buffer
	err := cmd.Run()
	stderr = buffer.String()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d (%v)", got, code, err)
	}
	lines := strings.Count(stderr, "\n")
	switch {
	case code == 0 && lines > 0:
		t.Errorf("%d lines on stderr, want none because the exit code is 0", lines)
	case code != 0 && (lines < 1 || lines > 2):
		t.Errorf("%d lines on stderr, want one or two", lines)
	}
	for _, text := range texts {
		if !strings.Contains(stderr, text) {
			t.Errorf("stderr lacks %q", text)
		}
	}
	if t.Failed() {
		t.Logf("%q:\n%s", cmd.Args[1:], stderr)
	}
	return stderr
}

// ReadLines runs the program, calls onLine with each line of its stdout, and returns its exit code.
func ReadLines(t testing.TB, cmd *exec.Cmd, onLine func(line string)) (code int) {
	t.Helper()
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	NoError(t, err)
	NoError(t, cmd.Start())
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		t.Log(scanner.Text())
		onLine(scanner.Text())
	}
	_ = cmd.Wait() // the caller checks the exit code
	return cmd.ProcessState.ExitCode()
}
