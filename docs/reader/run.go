// Run: a step at work, and what it reports.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/web"
)

const (
	maxRunBytes   = 4 << 20 // of the events of a run: further output is left out
	maxErrorBytes = 8 << 10 // of what a program writes to its standard error
)

// A run plays a step, and may start a cluster first. Its events are those of the player's -json,
// and some of its own: "run" is the first, "progress" is a line of the start of a cluster, "build"
// comes before the program is built, "printed" is a line of its output that is not an event, "log" has
// what it wrote to its standard error, and "over" is the last.
type run struct {
	transcript string
	cancel     context.CancelFunc

	mu     sync.Mutex
	stdin  io.Writer // a line lets a step go on that pauses; nil if none does
	events []json.RawMessage
	bytes  int
	isFull bool // there was too much output: the rest is left out
	over   bool
	more   chan struct{} // closed, and replaced by a new channel, when there is another event
}

func (r *run) add(event any) {
	text, _ := json.Marshal(event) // it never fails: all events are JSON, texts or numbers
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events, r.bytes = append(r.events, text), r.bytes+len(text)
	close(r.more)
	r.more = make(chan struct{})
}

// addOutput adds an event with output, unless there was too much before it.
func (r *run) addOutput(event any) {
	r.mu.Lock()
	wasFull := r.isFull
	r.isFull = r.bytes >= maxRunBytes
	isFull := r.isFull
	r.mu.Unlock()
	switch {
	case !isFull:
		r.add(event)
	case !wasFull:
		r.add(gin.H{"event": "warning", "text": "this is too much: the rest is left out"})
	}
}

// from returns the events after the first n, and a channel that is closed when there are more.
func (r *run) from(n int) (events []json.RawMessage, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events[min(n, len(r.events)):]), r.more
}

func (r *run) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// A stage has the run of the moment: there is one at a time.
type stage struct {
	running sync.WaitGroup

	mu   sync.Mutex
	run  *run
	next chan struct{} // closed, and replaced by a new channel, when there is another run
}

// current returns the last run, or nil, and a channel that is closed when there is another.
func (s *stage) current() (*run, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run, s.next
}

// start starts a run, if none runs. The page shows it where it has this transcript; how
// says which of several places, as play does.
func (s *stage) start(
	ctx context.Context, transcript string, do func(context.Context, *run) error, how ...string,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil && !s.run.isOver() {
		return web.Errorf(http.StatusConflict, "%s is running: stop it first", s.run.transcript)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &run{transcript: transcript, cancel: cancel, more: make(chan struct{})}
	r.add(gin.H{"event": "run", "transcript": transcript, "how": how, "id": time.Now().UnixMilli()})
	s.run = r
	close(s.next)
	s.next = make(chan struct{})
	s.running.Go(func() {
		defer cancel()
		over := gin.H{"event": "over"}
		if err := do(ctx, r); err != nil && ctx.Err() == nil {
			over["error"] = err.Error()
		}
		r.mu.Lock()
		r.over, r.stdin = true, nil
		r.mu.Unlock()
		r.add(over)
	})
	return nil
}

// play builds the program of a step, and runs it. how is "", "pause" or "follow". The page of a
// program that serves one links to the book at this address.
func (r *reader) play(ctx context.Context, played *run, s step, how, address string) error {
	if s.needsCluster && os.Getenv("KUBECONFIG") == "" && !r.hasKubeconfig() { // the program would say the same
		const hint = "no cluster chosen: start one with scripts/kind-up.sh, or without Docker with scripts/local-up.sh"
		played.add(gin.H{"event": "cluster", "state": "none", "text": hint})
		played.add(gin.H{"event": "end", "verdict": "failed", "error": hint})
		return nil
	}
	played.add(gin.H{"event": "build", "takesMinutes": s.ownModule, "begun": time.Now().UnixMilli()})
	program, err := r.build(ctx, s)
	if err != nil {
		return err
	}
	args := []string{s.name, "-json"}
	switch how {
	case "pause":
		args = append(args, "-pause")
	case "follow":
		args = append(args, "-follow", "-addr", "127.0.0.1:0") // the usual port may be in use
	}
	command := r.command(ctx, program, args...)
	command.Env = append(command.Environ(), "READING_ROOM="+address)
	if how == "pause" {
		stdin, err := command.StdinPipe()
		if err != nil {
			return err
		}
		played.mu.Lock()
		played.stdin = stdin
		played.mu.Unlock()
	}
	stderr := &tail{limit: maxErrorBytes}
	command.Stderr = stderr
	if s.ownModule { // it makes a cluster of its own, and says how far it is
		command.Stderr = io.MultiWriter(stderr, played.progress())
	}
	hasEnd := false
	output := &lineWriter{show: func(line string) { hasEnd = played.report(line) || hasEnd }}
	command.Stdout = output
	if err := r.run(command); command.ProcessState == nil {
		return err // it was not started
	}
	output.flush()
	if !hasEnd && ctx.Err() == nil {
		return fmt.Errorf("the program has ended early: %v\n%s", command.ProcessState, stderr)
	}
	if text := stderr.String(); text != "" && !s.ownModule {
		played.add(gin.H{"event": "log", "text": text})
	}
	return nil
}

// report adds a line of a player's output: an event, or what the code of the step has printed past
// the player. It returns whether the player has come to its end.
func (r *run) report(line string) (isEnd bool) {
	var event struct{ Event string }
	at := strings.Index(line, `{"event":"`)
	if at < 0 || json.Unmarshal([]byte(line[at:]), &event) != nil {
		at = len(line)
	}
	if at > 0 || line == "" {
		r.addOutput(gin.H{"event": "printed", "text": bounded(line[:at])})
	}
	switch event.Event {
	case "":
	case "line", "block":
		r.addOutput(json.RawMessage(line[at:]))
	default:
		r.add(json.RawMessage(line[at:]))
	}
	return event.Event == "end"
}

// A tail keeps the end of what is written to it.
type tail struct {
	limit int
	text  []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-t.limit):]
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.ToValidUTF8(t.text, []byte("�"))) }

// serveRun answers a request to play the step of a transcript: to its end; with a pause before each
// command; or, if it serves a web page, until it is stopped. On request a cluster is started first.
func (r *reader) serveRun(c *gin.Context) (any, error) {
	s, ok := r.findStep(c.Query("transcript"))
	if !ok {
		return nil, web.Errorf(http.StatusNotFound, "there is no step with the transcript %q", c.Query("transcript"))
	}
	how := c.Query("how")
	if how != "" && how != "pause" && (how != "follow" || s.page == "") {
		return nil, web.Errorf(http.StatusBadRequest, "the step %s cannot be run with %q", s.name, how)
	}
	wantsCluster, address := c.Query("cluster") == "true", "http://"+c.Request.Host+"/"
	do := func(ctx context.Context, played *run) error {
		if wantsCluster {
			if err := r.startCluster(ctx, played); err != nil {
				return err
			}
		}
		return r.play(ctx, played, s, how, address)
	}
	return gin.H{}, r.stage.start(r.ctx, s.transcript, do, how)
}

// startCluster starts a cluster, which stays.
func (r *reader) startCluster(ctx context.Context, started *run) error {
	started.add(gin.H{"event": "cluster", "state": "starting", "begun": time.Now().UnixMilli()})
	command := r.command(ctx, "scripts/local-up.sh")
	lines := started.progress()
	command.Stdout, command.Stderr = lines, lines
	if err := r.run(command); err != nil {
		return fmt.Errorf("scripts/local-up.sh: %w", err)
	}
	r.startedCluster.Store(true)
	started.add(gin.H{"event": "cluster", "state": "started"})
	return nil
}

// progress returns a writer that adds an event for each line.
func (r *run) progress() io.Writer {
	return &lineWriter{show: func(line string) { r.addOutput(gin.H{"event": "progress", "text": bounded(line)}) }}
}

// bounded returns a line, cut to what a page shows of it.
func bounded(line string) string {
	const maxLine = 500
	return strings.ToValidUTF8(line[:min(len(line), maxLine)], "")
}

// A lineWriter shows each line that is written to it. It cuts a line that is longer than all output
// may be.
type lineWriter struct {
	show    func(line string)
	partial []byte
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.partial = append(w.partial, p...)
	for {
		line, rest, found := bytes.Cut(w.partial, []byte("\n"))
		if !found && len(line) < maxRunBytes {
			return len(p), nil
		}
		w.show(string(line))
		w.partial = rest
	}
}

// flush shows the last line, if it has no end.
func (w *lineWriter) flush() {
	if len(w.partial) > 0 {
		w.show(string(w.partial))
	}
}

// serveStop answers a request to stop what runs.
func (r *reader) serveStop(*gin.Context) (any, error) {
	if played, _ := r.stage.current(); played != nil {
		played.cancel()
	}
	return gin.H{}, nil
}

// serveNext answers a request to let a step go on that pauses.
func (r *reader) serveNext(*gin.Context) (any, error) {
	if played, _ := r.stage.current(); played != nil {
		played.mu.Lock()
		stdin := played.stdin
		played.mu.Unlock()
		if stdin != nil {
			if _, err := io.WriteString(stdin, "\n"); err == nil {
				return gin.H{}, nil
			}
		}
	}
	return nil, web.Errorf(http.StatusConflict, "no step waits")
}
