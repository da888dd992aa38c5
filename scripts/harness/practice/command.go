// The commands that check an exercise: how they are read, built and run.

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A command is a line of an exercise's section Check, as a reader could type it:
//
//	go test [-race] ./PACKAGE -run '^(TestA|TestB)$'
//	go test -short ./PACKAGE
//	go run ./PACKAGE STEP -check
type command struct {
	line    string
	race    bool
	whole   bool     // go test -short: all tests of the package
	program string   // the folder, such as "./06-processor"
	tests   []string // go test -run: the names of the tests, such as TestA or TestA/subtest
	args    []string // go run: the arguments of the program
}

// testPattern matches '^(TestA|TestB)$', '^TestA$', '^TestA$/^subtest$' and '^TestA$/^(one|two)$'.
var testPattern = regexp.MustCompile(`^'\^\(?(\w+(?:\|\w+)*)\)?\$(?:/\^\(?([\w-]+(?:\|[\w-]+)*)\)?\$)?'$`)

// parseCommand reads a line of the section Check.
func parseCommand(line string) (command, error) {
	c := command{line: line}
	words := strings.Fields(line)
	if len(words) > 2 && words[2] == "-race" {
		c.race = true
		words = slices.Delete(words, 2, 3)
	}
	if len(words) == 4 && strings.HasPrefix(line, "go test -short ./") {
		c.whole, c.program = true, words[3]
		return c, nil
	}
	if len(words) == 5 && words[0] == "go" && words[2] != "" {
		c.program = words[2]
		pattern := testPattern.FindStringSubmatch(words[4])
		switch {
		case words[1] == "test" && words[3] == "-run" && pattern != nil:
			c.tests = strings.Split(pattern[1], "|")
			if pattern[2] != "" {
				c.tests = strings.Split(pattern[2], "|")
				for i, subtest := range c.tests {
					c.tests[i] = pattern[1] + "/" + subtest
				}
			}
			return c, nil
		case words[1] == "run" && words[4] == "-check":
			c.args = words[3:]
			return c, nil
		}
	}
	return c, fmt.Errorf("%q is neither go test [-race] ./PACKAGE -run '^(TestA|TestB)$', "+
		"go test -short ./PACKAGE nor go run ./PACKAGE STEP -check", line)
}

// A checker builds and runs the commands of an exercise.
type checker struct {
	folder   string // where the commands run
	root     string // what it prints names files from here; the folder, or the clone that the folder is in
	dir      string // for what it builds
	overlay  string // a file for go's flag -overlay, or ""
	out      io.Writer
	patience time.Duration     // how long a test may take
	grace    time.Duration     // how long a program may take to end, after it was asked to
	most     int               // bytes that a program may print
	built    map[string]string // the programs, by what they were built from
}

// testPatience is how long a test of an exercise may take. It only ends a hang.
var testPatience = 20 * time.Second

// together is how many times as long several tests may take, or a step. A step that waits in vain
// ends by itself, and says what it waits for.
const together = 3

// newChecker returns a checker of a folder that builds programs in dir.
func newChecker(folder, dir, overlay string, out io.Writer) *checker {
	return &checker{
		folder: folder, root: folder, dir: dir, overlay: overlay, out: out,
		patience: testPatience, grace: 5 * time.Second, most: 4 << 20, built: map[string]string{},
	}
}

// build builds the program or the tests of a command, and returns the path. If the code does not
// compile, it returns what the compiler says.
func (c *checker) build(ctx context.Context, cmd command) (binary, failure string, err error) {
	verb := []string{"build", "-buildvcs=false", "-ldflags=-w"} // no data for a debugger: that is faster
	if cmd.whole || cmd.tests != nil {
		verb = []string{"test", "-c", "-ldflags=-w"}
	}
	if cmd.race {
		verb = append(verb, "-race")
	}
	key := strings.Join(append(verb, cmd.program), " ")
	if binary, ok := c.built[key]; ok {
		return binary, "", nil
	}
	binary = filepath.Join(c.dir, fmt.Sprintf("program%d", len(c.built)))
	args := append(verb, "-o", binary)
	if c.overlay != "" {
		args = append(args, "-overlay", c.overlay)
	}
	const longest = 30 * time.Minute // for the first time, and on a slow machine
	doing := "building " + cmd.program + " (each exercise compiles the course once; later checks take seconds)"
	text, err := c.run(ctx, longest, c.folder, doing, "go", append(args, cmd.program)...)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if err != nil {
		return "", summary(c.root, c.fromRoot(text)), nil
	}
	c.built[key] = binary
	return binary, "", nil
}

// fileOfError matches the file that an error of the compiler names, from the folder where it runs.
var fileOfError = regexp.MustCompile(`(?m)^(\s*)([\w.][^\s:]*\.go:\d)`)

// fromRoot returns the compiler's output with the paths of files as they are from the root.
func (c *checker) fromRoot(text string) string {
	folder, err := filepath.Rel(c.root, c.folder)
	if err != nil || folder == "." {
		return text
	}
	return fileOfError.ReplaceAllString(text, "${1}"+filepath.ToSlash(folder)+"/$2")
}

// step runs the step of a command. It returns what is wrong, or "".
func (c *checker) step(ctx context.Context, cmd command, binary string) (failure string, err error) {
	text, err := c.run(ctx, together*c.patience, c.folder, "running "+cmd.args[0], binary, cmd.args...)
	if err == nil || ctx.Err() != nil {
		return "", ctx.Err()
	}
	return c.failure(text, err), nil
}

// test runs one test of a command. It returns what is wrong, or "". A panic ends all of a program,
// so test runs it again without the subtest that has panicked, as long as that shows something new.
func (c *checker) test(ctx context.Context, cmd command, binary, name string) (failure string, err error) {
	var shown, skipped []string
	for {
		failure, subtest, err := c.testOnce(ctx, cmd, binary, name, skipped)
		if err != nil {
			return "", err
		}
		fresh := slices.DeleteFunc(parts(failure), func(part string) bool { return slices.Contains(shown, part) })
		shown = append(shown, fresh...)
		if len(fresh) == 0 || subtest == "" || subtest == exactly(name) || isEndless(failure) {
			return strings.Join(shown, "\n"), nil
		}
		skipped = append(skipped, subtest)
	}
}

// exactly returns a pattern for a test, and for no other.
func exactly(test string) string { return "^" + strings.ReplaceAll(test, "/", "$/^") + "$" }

// testOnce runs a test without some of its subtests. It returns what is wrong, and a pattern for
// the subtest that has panicked, if there is one.
func (c *checker) testOnce(
	ctx context.Context, cmd command, binary, name string, skipped []string,
) (failure, panicked string, err error) {
	args := []string{
		"-test.v", "-test.paniconexit0", "-test.timeout", c.patience.String(), "-test.run", exactly(name),
	}
	if len(skipped) > 0 {
		args = append(args, "-test.skip", strings.Join(skipped, "|"))
	}
	folder := filepath.Join(c.folder, cmd.program)
	text, err := c.run(ctx, c.patience+c.grace, folder, "running "+name, binary, args...)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case err != nil:
		return c.failure(text, err), panickedSubtest(text), nil
	case !strings.Contains(text, "--- PASS: "+name+" ("):
		return name + " did not run: the exercise needs it", "", nil
	default:
		return "", "", nil
	}
}

// testAll runs all tests of a package. It returns what is wrong, or "", and the names of the tests
// that have failed, or did not run because another one has ended the program.
func (c *checker) testAll(ctx context.Context, cmd command, binary string) (failure string, names []string, err error) {
	folder, longest := filepath.Join(c.folder, cmd.program), together*c.patience
	text, err := c.run(ctx, longest+c.grace, folder, "running all tests of "+cmd.program, binary,
		"-test.v", "-test.short", "-test.paniconexit0", "-test.timeout", longest.String())
	if err == nil || ctx.Err() != nil {
		return "", nil, ctx.Err()
	}
	failure = c.failure(text, err)
	list, err := c.run(ctx, longest, folder, "listing the tests of "+cmd.program, binary, "-test.list", "^Test")
	if err != nil {
		return "", nil, fmt.Errorf("listing the tests of %s: %w", cmd.program, err)
	}
	for name := range strings.Lines(list) {
		name = strings.TrimSpace(name)
		if !strings.Contains(text, "--- PASS: "+name+" (") && !strings.Contains(text, "--- SKIP: "+name+" (") {
			names = append(names, name)
		}
	}
	return failure, names, nil
}
