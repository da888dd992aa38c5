package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// hang is how long the tests of one command may take; to compile them does not count.
var hang = 30 * time.Second

// isSolved runs the commands of an exercise up to the first that fails, and prints
// what was expected and what came.
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
		words := strings.Fields(strings.ReplaceAll(command, "'", ""))
		args := []string{words[1], "-overlay", overlay}
		if words[1] == "test" {
			args = append(args, "-v", "-timeout", hang.String())
			command, _, _ = strings.Cut(command, " -run ") // the names of the tests say too much
		}
		fmt.Fprintf(out, "%s: %s\n", e.name, command)
		text, err := goCommand(ctx, root, append(args, words[2:]...))
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		complaint := notRun(words, text)
		if err != nil {
			complaint = summary(root, text)
		}
		if complaint != "" {
			fmt.Fprintf(out, "%s\n", complaint)
			return false, nil
		}
	}
	return true, nil
}

// goCommand builds and runs. What hangs is ended, with its children. To build can take many minutes, the
// first time.
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

// booksFiles writes an overlay for the go command: wherever a test, a transcript or a
// step is not as the book has it, the book's takes its place, but for the reader's file.
func booksFiles(root, dir, readers string) (file string, err error) {
	ref := bookRef(root)
	tests := []string{"--", "*_test.go", "*/testdata/*", "*/step_*.go", ":(exclude)" + readers}
	changed, err := git(root, append([]string{"diff", "--name-only", "--no-renames", ref}, tests...)...)
	added, addedErr := git(root, append([]string{"ls-files", "--others", "--exclude-standard"}, tests...)...)
	if err := errors.Join(err, addedErr); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, name := range strings.FieldsFunc(changed+added, func(r rune) bool { return r == '\n' }) {
		book := ""
		if text, err := git(root, "show", ref+":"+name); err == nil { // otherwise the book has no such file
			book = filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(name)))
			if err := os.WriteFile(book, []byte(text), 0o600); err != nil {
				return "", err
			}
		}
		replace[filepath.Join(root, name)] = book
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": replace}) // strings: it cannot fail
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o600)
}

// notRun says which test of a command has not passed: one that is skipped or gone
// has not, either.
func notRun(words []string, text string) string {
	for _, test := range regexp.MustCompile(`Test\w+`).FindAllString(strings.Join(words, " "), -1) {
		if !strings.Contains(text, "--- PASS: "+test+" (") {
			return test + " did not run: the exercise needs it"
		}
	}
	return ""
}

var (
	frame = regexp.MustCompile(`(?m)^(?:created by )?(\S+)\(.*\)?\n\t(.+\.go):(\d+)`)
	noise = regexp.MustCompile(
		`(?m)^\s*(=== (RUN|PAUSE|CONT|NAME) .*|--- (PASS|SKIP): .*|PASS|FAIL(\t.*)?|ok  \t.*|exit status \d+` +
			`|\(waiting for: .*)(\n|$)|; -update takes it as it is now`)
)

// summary is the part of a failed command's output that a reader needs: of a panic,
// a hang or a data race one line, with function and file.
func summary(root, text string) string {
	for _, mark := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
		before, after, found := strings.Cut(text, mark)
		if !found {
			continue
		}
		message, stack, _ := strings.Cut(after, "\n")
		test := ""
		if running := regexp.MustCompile(`=== RUN +(\S+)`).FindAllStringSubmatch(before, -1); running != nil {
			test = running[len(running)-1][1] + ": "
		}
		return test + mark + strings.TrimSuffix(message, " [recovered, repanicked]") + at(root, stack)
	}
	lines := strings.SplitAfter(noise.ReplaceAllString(text, ""), "\n")
	if len(lines) > 25 {
		lines = append(lines[:25], fmt.Sprintf("… and %d lines more\n", len(lines)-25))
	}
	return strings.Join(lines, "")
}

// at names the first function of the course in a stack; one of a test only if there
// is no other.
func at(root, stack string) string {
	inTest := ""
	for _, found := range frame.FindAllStringSubmatch(stack, -1) {
		function, file, line := found[1], found[2], found[3]
		relative, err := filepath.Rel(root, file)
		if err != nil || strings.HasPrefix(relative, "..") {
			continue
		}
		place := fmt.Sprintf(", in %s (%s:%s)", function[strings.LastIndex(function, "/")+1:], relative, line)
		if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(relative, "scripts") {
			return place
		}
		if inTest == "" {
			inTest = place
		}
	}
	return inTest
}
