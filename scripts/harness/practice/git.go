// How the tool runs git, and which commit of the clone is the book's.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// ownConfig keeps the reader's hooks and settings out of what the tool does.
var ownConfig = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
}

// git runs a git command in a folder, and returns its output.
func git(dir string, args ...string) (string, error) { return gitWith(dir, "", "", args...) }

// gitLine returns the first line of the output of a git command, or "" after an error.
func gitLine(dir string, args ...string) string {
	output, err := git(dir, args...)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(output, "\n")
	return line
}

// gitWith runs a git command that reads an input, and uses this index instead of the folder's own, if
// it is not "".
func gitWith(dir, input, index string, args ...string) (string, error) {
	command := exec.Command("git", append(ownConfig[:len(ownConfig):len(ownConfig)], args...)...)
	command.Dir = dir
	command.Stdin = strings.NewReader(input)
	for _, variable := range os.Environ() { // without GIT_DIR, which a hook or an editor may have set
		if !strings.HasPrefix(variable, "GIT_") {
			command.Env = append(command.Env, variable)
		}
	}
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} { // equal starts are one commit
		command.Env = append(command.Env, who+"_NAME=practice", who+"_EMAIL=practice@localhost", who+"_DATE=@0 +0000")
	}
	if index != "" {
		command.Env = append(command.Env, "GIT_INDEX_FILE="+index)
	}
	output, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(output), err
}

// hasCommit reports whether git has a commit.
func hasCommit(root, commit string) bool {
	_, err := git(root, "cat-file", "-e", commit+"^{commit}")
	return commit != "" && err == nil
}

// bookCommit returns a commit with the book's code. That is HEAD at the time when the first exercise
// was started, or the newest commit that the reader has pulled since then. It is never a commit of the
// reader's own, even if the reader has pushed it.
func (p *practice) bookCommit() (string, error) {
	began := p.state.Book
	if !hasCommit(p.root, began) {
		head, err := git(p.root, "rev-parse", "--verify", "HEAD^{commit}")
		return strings.TrimSpace(head), err
	}
	remote, _ := git(p.root, "log", "--format=%H", "--remotes", "--not", began)
	pulled, _ := git(p.root, "log", "--format=%H %ae", "HEAD", "--not", began)
	reader := gitLine(p.root, "config", "user.email")
	for line := range strings.Lines(pulled) {
		commit, author, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(remote, commit) && author != reader {
			return commit, nil
		}
	}
	return began, nil
}
