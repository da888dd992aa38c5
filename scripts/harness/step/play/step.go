// Package play runs the steps of a chapter. A step is a short program; its
// transcript, testdata/STEP.txt, is what the book shows, what the test compares
// with, and the script of what happens around the program while it runs.
//
// It imports nothing of Kubernetes, so that a chapter that needs no cluster builds
// fast. Package step adds the cluster.
package play

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Step is one idea: a short program with an output to read. It returns by
// itself, or it runs until its context ends.
type Step struct {
	Name  string // one word, as typed on the command line
	Title string // one line, shown above the output
	Run   func(ctx context.Context, l *Lesson) error

	// Offline is for a step that needs no cluster in a chapter that does.
	Offline bool

	// Speakers are the names of several handlers, each of which begins its
	// lines with its name, as in "first : ". Between two commands the lines of
	// one speaker have an order; the lines of two speakers have none.
	Speakers []string

	// Fold makes equal neighbours (of one speaker) count as one line. It is for
	// a step whose events come from a kubelet, which repeats itself.
	Fold bool

	// Quiet is how long the step may print nothing before the play goes on without it, and how long a
	// command may take before the play ends without it. Default: 10 seconds, in tests a minute.
	Quiet time.Duration
}

// A Lesson is what a step works with.
type Lesson struct {
	Out     io.Writer // where the step prints; safe for use from any goroutine
	Follow  bool      // the flag -follow was given: a user is the world around the step
	Cluster Cluster   // nil for a step that needs none

	actions sync.Map     // by name: func()
	address atomic.Value // of the step's web server: a string
}

// On offers an action: where the transcript says "> name", do is called.
func (l *Lesson) On(name string, do func()) { l.actions.Store(name, do) }

// ServesAt makes the address of the step's web server known. In the transcript
// it is called ADDRESS.
func (l *Lesson) ServesAt(address string) { l.address.Store(address) }

func (l *Lesson) servesAt() string {
	address, _ := l.address.Load().(string)
	return address
}

// name puts a word in the place of what differs from run to run.
func (l *Lesson) name(line string) string {
	if l.Cluster != nil {
		line = strings.ReplaceAll(line, l.Cluster.Namespace(), "NAMESPACE")
	}
	if address := l.servesAt(); address != "" {
		line = strings.ReplaceAll(line, address, "ADDRESS")
	}
	return line
}

// A Chapter is a list of steps in reading order.
type Chapter struct {
	Name  string // the chapter's folder, such as "01-deltafifo"
	Title string
	Steps []Step

	// Files holds testdata/STEP.txt of each step, and what the commands in
	// there read. The chapter embeds it, so that it runs from any folder.
	Files fs.FS

	// Connect, if set, is called before each step that needs a cluster.
	Connect func(context.Context) (Cluster, error)

	// Flags, if set, adds flags of the chapter's own.
	Flags func(*flag.FlagSet)

	network http.RoundTripper // answers curl in tests in fake time; nil: the real one
}

// NeedsCluster is whether a step of this chapter needs a cluster.
func (c Chapter) NeedsCluster(s Step) bool { return c.Connect != nil && !s.Offline }

// Played is the chapter itself; see steptest.
func (c Chapter) Played() Chapter { return c }

// patienceKey is the key of what Patience returns.
type patienceKey struct{}

// Patience is for Connect: how long the player of this step waits for a line, or for a command.
func Patience(ctx context.Context) time.Duration {
	patience, _ := ctx.Value(patienceKey{}).(time.Duration)
	return cmp.Or(patience, quiet)
}

// Check plays a step, on the cluster at hand, and returns an error if it does
// not do as its transcript says. quiet is how long it may print nothing, unless
// the step itself asks for more; show is called with each line that is printed.
func (c Chapter) Check(ctx context.Context, s Step, quiet time.Duration, show func(line string)) error {
	return c.perform(ctx, s, quiet, show, func(p *player) error {
		_, err := p.play(ctx)
		return err
	})
}

// perform reads the transcript of a step, connects to the cluster, and lets do play
// the step, which may be quiet for that long. show is called with each line that the user is
// to see.
func (c Chapter) perform(
	ctx context.Context, s Step, quiet time.Duration, show func(string), do func(*player) error,
) (err error) {
	want, err := c.read(ctx, s)
	if err != nil {
		return fmt.Errorf("%s/testdata/%s.txt: %w", c.Name, s.Name, err)
	}
	quiet = max(quiet, s.Quiet)
	lesson := &Lesson{}
	if c.NeedsCluster(s) {
		if lesson.Cluster, err = c.Connect(context.WithValue(ctx, patienceKey{}, quiet)); err != nil {
			return err
		}
		defer func() { err = errors.Join(lesson.Cluster.Explain(err), lesson.Cluster.Close(ctx)) }()
	}
	var mu sync.Mutex // the program and the player show their lines from different goroutines
	oneAtATime := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		show(line)
	}
	out := &output{name: lesson.name, show: oneAtATime, more: make(chan struct{})}
	if len(s.Speakers) > 0 {
		out.show = func(string) {} // the player shows them, speaker by speaker
	}
	lesson.Out = out
	return do(&player{
		step: s, want: want, lesson: lesson, out: out, quiet: quiet,
		shell: &shell{cluster: lesson.Cluster, files: c.Files, address: lesson.servesAt, network: c.network},
		show:  oneAtATime, say: func(string) {}, pause: func(context.Context) {},
	})
}

// A Cluster is what the player needs of the cluster that a step runs on. Most of
// it is a session.
type Cluster interface {
	Namespace() string // of the step's own
	Watching() bool    // the step watches something

	FindKubectl(context.Context) error
	Kubectl(ctx context.Context, files fs.FS, verb string, args ...string) ([]string, error)
	KubectlCommand() string                        // for another terminal
	File(files fs.FS, name string) (string, error) // the path of a file of testdata, with this namespace in it
	Explain(error) error
	Close(context.Context) error
}
