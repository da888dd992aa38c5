// Checking an exercise with the book's tests, and summing up what they print.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// testTimeout is how long the tests of one command may take, without their compilation.
var testTimeout = 30 * time.Second

// isSolved runs the commands of an exercise up to the first one that fails, and prints a summary of
// its output.
func isSolved(ctx context.Context, root string, e exercise, out io.Writer) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "practice")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	overlay, err := booksFiles(root, dir, e.file)
	if err != nil {
		return false, err
	}
	for _, command := range e.checks {
		failure, err := runCheck(ctx, root, overlay, e.name, command, out)
		if err != nil {
			return false, err
		}
		if failure != "" {
			fmt.Fprintf(out, "%s\n", failure)
			return false, nil
		}
	}
	return true, nil
}

// runCheck runs a command of an exercise. If the command fails, or if it does not run all of its
// tests, runCheck returns what is wrong.
func runCheck(
	ctx context.Context, root, overlay, name, command string, out io.Writer,
) (failure string, err error) {
	words := strings.Fields(strings.ReplaceAll(command, "'", ""))
	verb := words[1] // test or run
	args := []string{verb, "-overlay", overlay}
	if verb == "test" {
		args = append(args, "-v", "-timeout", testTimeout.String())
		command, _, _ = strings.Cut(command, " -run ") // the names of the tests would give the answer away
	}
	fmt.Fprintf(out, "%s: %s\n", name, command)
	text, err := goCommand(ctx, root, append(args, words[2:]...))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return summary(root, text), nil
	}
	return notRun(words, text), nil
}

// goCommand runs go, and returns its output. It ends a command that hangs, with its children. The
// first build can take many minutes.
func goCommand(ctx context.Context, root string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 10 * time.Second
	text, err := command.CombinedOutput()
	return string(text), err
}

// booksFiles writes an overlay for the go command, and returns its path. The overlay replaces each
// test, transcript and step that differs from the book's by the book's, except for the reader's
// file.
func booksFiles(root, dir, readersFile string) (file string, err error) {
	ref := bookRef(root)
	patterns := []string{"--", "*_test.go", "*test/*.go", "*/testdata/*", "*/step_*.go", ":(exclude)" + readersFile}
	changed, err := git(root, slices.Concat([]string{"diff", "--name-only", "--no-renames", ref}, patterns)...)
	if err != nil {
		return "", err
	}
	added, err := git(root, slices.Concat([]string{"ls-files", "--others", "--exclude-standard"}, patterns)...)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, name := range strings.FieldsFunc(changed+added, func(r rune) bool { return r == '\n' }) {
		book := ""
		if text, err := git(root, "show", ref+":"+name); err == nil { // on an error, the book has no such file
			book = filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(name)))
			if err := os.WriteFile(book, []byte(text), 0o600); err != nil {
				return "", err
			}
		}
		replace[filepath.Join(root, name)] = book
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": replace}) // strings can always be marshaled
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o600)
}

var (
	testName    = regexp.MustCompile(`Test\w+`)
	runningTest = regexp.MustCompile(`=== RUN +(\S+)`)
	stackFrame  = regexp.MustCompile(`(?m)^(?:created by )?(\S+)\(.*\)?\n\t(.+\.go):(\d+)`)
	noise       = regexp.MustCompile(
		`(?m)^\s*(=== (RUN|PAUSE|CONT|NAME) .*|--- (PASS|SKIP): .*|PASS|FAIL(\t.*)?|ok  \t.*|exit status \d+` +
			`|\(waiting for: .*)(\n|$)|; -update takes it as it is now`)
)

// notRun returns an error text if a test of a command has not passed, because it was skipped or
// does not exist.
func notRun(words []string, text string) string {
	for _, test := range testName.FindAllString(strings.Join(words, " "), -1) {
		if !strings.Contains(text, "--- PASS: "+test+" (") {
			return test + " did not run: the exercise needs it"
		}
	}
	return ""
}

const maxLines = 25 // of a summary

// summary returns the part of a failed command's output that a reader needs. For a panic, a hang or
// a data race, that is one line, with the function and the file.
func summary(root, text string) string {
	for _, mark := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
		before, after, found := strings.Cut(text, mark)
		if !found {
			continue
		}
		message, stack, _ := strings.Cut(after, "\n")
		test := ""
		if matches := runningTest.FindAllStringSubmatch(before, -1); matches != nil {
			test = matches[len(matches)-1][1] + ": "
		}
		return test + mark + strings.TrimSuffix(message, " [recovered, repanicked]") + placeInStack(root, stack)
	}
	lines := strings.SplitAfter(noise.ReplaceAllString(text, ""), "\n")
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("… and %d lines more\n", more))
	}
	return strings.Join(lines, "")
}

// placeInStack returns the first function of the course in a stack, with its file and line. It
// returns a function of a test, or of scripts, only if there is no other.
func placeInStack(root, stack string) string {
	inTest := ""
	for _, match := range stackFrame.FindAllStringSubmatch(stack, -1) {
		function, file, line := match[1], match[2], match[3]
		relative, err := filepath.Rel(root, file)
		if err != nil || strings.HasPrefix(relative, "..") {
			continue
		}
		place := fmt.Sprintf(", in %s (%s:%s)", function[strings.LastIndex(function, "/")+1:], relative, line)
		ofTests := strings.HasSuffix(file, "_test.go") || strings.HasSuffix(filepath.Dir(file), "test")
		if !ofTests && !strings.HasPrefix(relative, "scripts") {
			return place
		}
		if inTest == "" {
			inTest = place
		}
	}
	return inTest
}
