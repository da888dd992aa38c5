// The chapter as a program: the test's own binary, in a process of its own.

package steptest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// Env is set in the environment of a process that is to run the chapter
// instead of its tests.
const Env = "RUN_CHAPTER"

// Program is for TestMain to call first: where Env is set, it runs the
// chapter's main and does not return.
func Program(main func()) {
	if os.Getenv(Env) != "" {
		main()
		os.Exit(0)
	}
}

// Command is the chapter as a program, which the end of the test kills.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), Env+"=1")
	return cmd
}

// Outside is Command in a folder outside the workspace, with an environment
// that names no cluster.
func Outside(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := Command(t, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{Env + "=1", "HOME=" + cmd.Dir}
	return cmd
}

// WantExit runs the program, wants this exit code, and on stderr each text in
// one or two lines: nothing at all if the code is 0. It returns what is there.
func WantExit(t testing.TB, cmd *exec.Cmd, code int, texts ...string) (stderr string) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	stderr = said.String()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d (%v)", got, code, err)
	}
	if lines := strings.Count(stderr, "\n"); lines > 2 || (lines == 0) != (code == 0) {
		t.Errorf("%d lines on stderr, want one or two, and none if all is well", lines)
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

// ReadLines runs the program, calls see with each line that it prints, and
// returns its exit code.
func ReadLines(t testing.TB, cmd *exec.Cmd, see func(line string)) (code int) {
	t.Helper()
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		t.Log(scanner.Text())
		see(scanner.Text())
	}
	_ = cmd.Wait() // the exit code says it all
	return cmd.ProcessState.ExitCode()
}
