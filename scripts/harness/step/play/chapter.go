package play

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// A Chapter is a list of steps in reading order.
type Chapter struct {
	Name  string // the chapter's folder, such as "01-deltafifo"
	Title string
	Steps []Step

	// Files holds testdata/STEP.txt of each step, and the files that its commands read. The chapter
	// embeds them, so that it runs from any folder.
	Files fs.FS

	// Connect, if set, is called before each step that needs a cluster. patience is how long the
	// player waits for a line or for a command of this step.
	Connect func(ctx context.Context, patience time.Duration) (Cluster, error)

	// Flags, if set, adds flags of the chapter.
	Flags func(*flag.FlagSet)

	network http.RoundTripper // answers curl in tests in fake time; nil: the real network
}

// StepNames returns the names of the steps in reading order.
func (c Chapter) StepNames() []string {
	names := make([]string, 0, len(c.Steps))
	for _, s := range c.Steps {
		names = append(names, s.Name)
	}
	return names
}

// Transcripts returns the names of the steps that have a transcript.
func (c Chapter) Transcripts() (names []string, err error) {
	files, err := fs.Glob(c.Files, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".txt"))
	}
	return names, nil
}

// index returns the place of a step in the chapter, or -1.
func (c Chapter) index(name string) int {
	return slices.IndexFunc(c.Steps, func(s Step) bool { return s.Name == name })
}

// StepNeedsCluster reports whether the step of this name needs a cluster.
func (c Chapter) StepNeedsCluster(name string) bool { return c.needsCluster(c.Steps[c.index(name)]) }

func (c Chapter) needsCluster(s Step) bool { return c.Connect != nil && !s.Offline }

// CheckStep plays the step of this name, on the cluster that the user has chosen. It returns an
// error if the step does not do what its transcript says. It calls show with each line that is
// printed.
func (c Chapter) CheckStep(ctx context.Context, name string, show func(line string)) error {
	return c.checkStep(ctx, name, testPatience, show)
}

func (c Chapter) checkStep(ctx context.Context, name string, patience time.Duration, show func(line string)) error {
	s := c.Steps[c.index(name)]
	report := oneAtATime(showTranscript(show))
	return c.perform(ctx, s, patience, report, func(p *player) error {
		_, err := p.play(ctx)
		return err
	})
}

// perform reads the transcript of a step, connects to the cluster, and calls play with a player for
// the step. It reports everything that the user is to see, from several goroutines.
func (c Chapter) perform(
	ctx context.Context, s Step, patience time.Duration, report reporter, play func(*player) error,
) (err error) {
	want, err := c.readTranscript(s)
	if err != nil {
		return fmt.Errorf("%s/testdata/%s.txt: %w", c.Name, s.Name, err)
	}
	patience = max(patience, s.Patience)
	env := &Env{}
	if c.needsCluster(s) {
		report(event{Event: clusterEvent, State: "connecting"})
		env.Cluster, err = c.Connect(ctx, patience)
		if err != nil && ctx.Err() == nil {
			report(event{Event: clusterEvent, State: "none", Text: err.Error()})
		}
		if err != nil {
			return err
		}
		report(event{Event: clusterEvent, State: "ready"})
		report(event{Event: valueEvent, Name: "NAMESPACE", Text: env.Cluster.Namespace()})
		defer func() { err = errors.Join(env.Cluster.Explain(err), env.Cluster.Close(ctx)) }()
	}
	env.serves = func(address string) { report(event{Event: valueEvent, Name: "ADDRESS", Text: address}) }
	out := &output{normalize: env.normalize, more: make(chan struct{})}
	out.show = func(n int, line string) {
		report(event{Event: lineEvent, N: n, Text: line, grouped: len(s.Speakers) > 0 && !env.Follow})
	}
	env.Out = out
	return play(&player{
		step:     s,
		want:     want,
		env:      env,
		shell:    &shell{cluster: env.Cluster, files: c.Files, address: env.serverAddress, network: c.network},
		out:      out,
		patience: patience,
		report:   report,
		pause:    func(context.Context) {},
	})
}
