// Package kind plays the steps on a kind cluster, and writes the table of docs/reference/kind.md.
package kind

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step/manifest"
)

var update = flag.Bool("update", false, "play the steps on a kind cluster, and write the table of "+page)

const (
	page   = "docs/reference/kind.md"
	header = "| program | steps | Kubernetes | node | day | result |\n|---|---|---|---|---|---|\n"
)

// The last column of a row.
const (
	asInTheBook    = "as in the book"
	notAsInTheBook = "**not as in the book**"
	notYetRun      = "not yet run on kind"
)

// A row is a row of the table: steps of one program that ran on the same day, with the same result.
type row struct {
	program, steps string
	rest           [4]string // the other columns
}

func (r row) String() string {
	return fmt.Sprintf("| `%s` | %s | %s |\n", r.program, r.steps, strings.Join(r.rest[:], " | "))
}

// A table is the table of a page, and the text around it.
type table struct {
	before, after string
	rows          []row
}

// parse finds the table of a page.
func parse(text string) (table, error) {
	before, after, ok := strings.Cut(text, header)
	if !ok {
		return table{}, fmt.Errorf("there is no table that begins with\n%s", header)
	}
	found := table{before: before}
	for strings.HasPrefix(after, "|") {
		line, rest, _ := strings.Cut(after, "\n")
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 6 {
			return table{}, fmt.Errorf("this row has %d columns, want 6: %s", len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		found.rows = append(found.rows, row{strings.Trim(cells[0], "`"), cells[1], [4]string(cells[2:])})
		after = rest
	}
	found.after = after
	return found, nil
}

func (t table) String() string {
	text := t.before + header
	for _, r := range t.rows {
		text += r.String()
	}
	return text + t.after
}

// replace replaces the rows of a program.
func (t *table) replace(program string, rows ...row) {
	kept := slices.DeleteFunc(t.rows, func(r row) bool { return r.program == program })
	t.rows = append(kept, rows...)
	slices.SortStableFunc(t.rows, func(a, b row) int { return strings.Compare(a.program, b.program) })
}

// problems compares the table with the steps of all programs: each step is in one row.
func (t table) problems(stepsOf map[string][]string) (found []string) {
	left := map[string][]string{}
	for program, steps := range stepsOf {
		left[program] = slices.Clone(steps)
	}
	for _, r := range t.rows {
		for _, step := range strings.Split(r.steps, ", ") {
			i := slices.Index(left[r.program], step)
			if i < 0 {
				found = append(found, fmt.Sprintf("%s has no step %q, or has it twice: remove it", r.program, step))
				continue
			}
			left[r.program] = slices.Delete(left[r.program], i, i+1)
		}
	}
	for _, program := range slices.Sorted(maps.Keys(left)) {
		if steps := left[program]; len(steps) > 0 {
			missing := row{program, strings.Join(steps, ", "), [4]string{3: notYetRun}}
			found = append(found,
				"play the steps on kind, as CONTRIBUTING.md says, or add this row:\n"+missing.String())
		}
	}
	return found
}

// root is the workspace. Its path is not cleaned: see docs/docs_test.go.
func root(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	must.NoError(t, err)
	return here + "/../../.."
}

func readTable(t *testing.T) table {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), page))
	must.NoError(t, err)
	found, err := parse(string(text))
	must.NoError(t, err)
	return found
}

// steps returns the steps that need a cluster, by the program that has them. A program in a module of
// its own makes its own cluster.
func steps(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	workspace := os.DirFS(root(t))
	all, err := manifest.Read(workspace)
	must.NoError(t, err)
	for program, steps := range all {
		for _, s := range steps {
			if s.NeedsCluster && !manifest.InOwnModule(workspace, program) {
				found[program] = append(found[program], s.Name)
			}
		}
	}
	return found
}

// A step that is in no row would look as if it did not exist.
func TestEveryStepIsInTheTable(t *testing.T) {
	for _, problem := range readTable(t).problems(steps(t)) {
		t.Errorf("%s: %s", page, problem)
	}
}

func TestProblems(t *testing.T) {
	const rows = "| `02-x` | list, watch | v1.37.1 | Debian | 2026-11-19 | as in the book |\n" +
		"| `02-x` | new |  |  |  | not yet run on kind |\n"
	found, err := parse("# Kind\n\n" + header + rows + "\nThe end.\n")
	must.NoError(t, err)
	if got, want := found.String(), "# Kind\n\n"+header+rows+"\nThe end.\n"; got != want {
		t.Errorf("a page that was not changed is\n%s\nwant\n%s", got, want)
	}
	for _, test := range []struct {
		steps map[string][]string
		want  string // in the only problem; "" for no problem
	}{
		{steps: map[string][]string{"02-x": {"watch", "list", "new"}}},
		{steps: map[string][]string{"02-x": {"list", "new"}}, want: `02-x has no step "watch"`},
		{
			steps: map[string][]string{"02-x": {"list", "watch", "new", "newer"}},
			want:  "| `02-x` | newer |  |  |  | not yet run on kind |\n",
		},
		{
			steps: map[string][]string{"02-x": {"list", "watch", "new"}, "03-y": {"lost"}},
			want:  "| `03-y` | lost |  |  |  | not yet run on kind |\n",
		},
	} {
		got := found.problems(test.steps)
		ok := len(got) == 0
		if test.want != "" {
			ok = len(got) == 1 && strings.Contains(got[0], test.want)
		}
		if !ok {
			t.Errorf("with the steps %q, the problems are %q, want one with %q", test.steps, got, test.want)
		}
	}
}

// With -update, this test runs the test of the steps of each program on a kind cluster, and writes
// what came of it into the table, program by program.
func TestStepsOnKind(t *testing.T) {
	if !*update {
		t.Skip("only -update plays the steps, and writes the table of " + page)
	}
	describeKind(t)
	stepsOf := steps(t)
	for _, program := range slices.Sorted(maps.Keys(stepsOf)) {
		t.Run(program, func(t *testing.T) {
			passed, output := play(t, program)
			version, node := describeKind(t) // now, because the steps may have failed with their cluster
			day := time.Now().UTC().Format(time.DateOnly)
			var good, bad []string
			for _, name := range stepsOf[program] {
				hasPassed, played := passed[name]
				switch {
				case !played:
					t.Fatalf("the step %s was not played:\n%s", name, output)
				case hasPassed:
					good = append(good, name)
				default:
					bad = append(bad, name)
				}
			}
			var rows []row
			add := func(steps []string, result string) {
				if len(steps) > 0 {
					rows = append(rows, row{program, strings.Join(steps, ", "), [4]string{version, node, day, result}})
				}
			}
			add(good, asInTheBook)
			add(bad, notAsInTheBook)
			if len(bad) > 0 {
				t.Errorf("not as in the book: %q\n%s", bad, output)
			}
			found := readTable(t)
			found.replace(program, rows...)
			must.NoError(t, os.WriteFile(filepath.Join(root(t), page), []byte(found.String()), 0o644))
		})
	}
}

// describeKind returns the version of the cluster, and what its node is made of. It ends the test if
// the cluster is not of kind.
func describeKind(t *testing.T) (version, node string) {
	t.Helper()
	s := sessiontest.Open(t)
	nodes, err := s.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	for _, n := range nodes.Items {
		if !strings.HasPrefix(n.Spec.ProviderID, "kind://") {
			t.Fatalf("the node %s is not of kind, its provider is %q: nothing is written", n.Name, n.Spec.ProviderID)
		}
		runtime := strings.Replace(n.Status.NodeInfo.ContainerRuntimeVersion, "://", " ", 1)
		node = n.Status.NodeInfo.OSImage + ", " + runtime
	}
	info, err := s.Client.Discovery().ServerVersion()
	must.NoError(t, err)
	return info.GitVersion, node
}

// ends are the actions that end a test which was not skipped.
var ends = map[string]bool{"pass": true, "fail": true}

// play runs the test of a program's steps. It returns which steps were played and whether they
// passed, and the output of the test.
func play(t *testing.T, program string) (passed map[string]bool, output string) {
	t.Helper()
	test := exec.CommandContext(t.Context(),
		"go", "test", "-json", "-count=1", "-timeout=30m", "-run=^TestSteps$", "./"+program)
	test.Dir = root(t)
	test.Stderr = t.Output()
	stdout, err := test.StdoutPipe()
	must.NoError(t, err)
	must.NoError(t, test.Start())
	passed = map[string]bool{}
	for events := json.NewDecoder(stdout); ; {
		var event struct{ Action, Test, Output string }
		if events.Decode(&event) != nil {
			break
		}
		output += event.Output
		if step, ok := strings.CutPrefix(event.Test, "TestSteps/"); ok && ends[event.Action] {
			passed[step] = event.Action == "pass"
		}
	}
	_ = test.Wait() // it fails if a step does
	return passed, output
}
