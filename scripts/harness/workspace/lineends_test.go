// A test that the files of a clone are the same wherever it is made.

package workspace_test

import (
	"os/exec"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// Git for Windows sets core.autocrlf. A clone must not get lines that end with CR LF even so: a shell
// refuses such a script, and no transcript would be as the book shows it.
func TestNoCloneGetsOtherEndsOfLines(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	list := exec.CommandContext(t.Context(), "git", "-c", "core.autocrlf=true", "ls-files", "--eol")
	list.Dir = root
	output, err := list.Output()
	must.NoError(t, err)
	for line := range strings.Lines(string(output)) { // i/lf w/lf attr/text=auto eol=lf <tab> name
		ends, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fields := strings.Fields(ends)
		switch got := strings.Join(append(fields[:1], fields[2:]...), " "); got { // without the working tree
		case "i/lf attr/text=auto eol=lf", "i/none attr/text=auto eol=lf", "i/-text attr/-text":
		default:
			t.Errorf("%s: %s; want LF in git and eol=lf in .gitattributes, or a file that is not text", name, got)
		}
	}
}
