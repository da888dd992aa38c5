// What the player reports: events, which become text for a person or JSON for a program.

package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// An event is something that the user is to see. With -json, each event is one line, an object with
// the fields below that are not empty. NAMESPACE and ADDRESS stand in it as in the transcript.
type event struct {
	Event string `json:"event"`

	// Where the step is, for beginEvent. Page is PAGE:LINE.
	Chapter    string `json:"chapter,omitempty"`
	Step       string `json:"step,omitempty"`
	Title      string `json:"title,omitempty"`
	Code       string `json:"code,omitempty"`
	Page       string `json:"page,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	Folds      bool   `json:"folds,omitempty"` // equal neighbours count as one line

	// At is the number of a command in the transcript: its line. It is also the number of the block
	// that the command begins, and 0 for a block above the first command.
	At int `json:"at,omitempty"`

	State string `json:"state,omitempty"` // of the cluster: connecting, ready, none
	Name  string `json:"name,omitempty"`  // NAMESPACE or ADDRESS
	For   string `json:"for,omitempty"`   // what the player waits for: enter, line
	N     int    `json:"n,omitempty"`     // counts the lines that the program has printed
	Text  string `json:"text,omitempty"`

	Verdict verdict `json:"verdict,omitempty"` // on a block, or on the step
	Through int     `json:"through,omitempty"` // the last N of this block or of a block before it
	Rows    []row   `json:"rows,omitempty"`
	More    int     `json:"more,omitempty"` // rows that were left out at the end

	Difference string `json:"difference,omitempty"` // to the transcript, as a unified diff
	Error      string `json:"error,omitempty"`

	grouped bool     // the line is shown again with its block, where the speakers are in order
	show    []string // the lines of the block that were not shown when they came
	err     error    // the error of the step
}

// The kinds of events.
const (
	beginEvent   = "begin"   // a step begins
	clusterEvent = "cluster" // the state of the cluster, if the step needs one; Text has a hint
	valueEvent   = "value"   // Text is what NAMESPACE or ADDRESS stands for
	commandEvent = "command" // a command is given, now or after a pause
	waitEvent    = "wait"    // for Enter, or for the expected line Text
	lineEvent    = "line"    // the program has printed a line; the verdict comes with its block
	blockEvent   = "block"   // the verdict on each line of a block; a later one replaces it
	noteEvent    = "note"    // something that is good to know
	warningEvent = "warning" // something that has gone wrong, and does not end the step
	endEvent     = "end"     // the step is over
)

// What the player can wait for.
const (
	forEnter = "enter"
	forLine  = "line"
)

// A verdict says how a line, a block or a step compares with the transcript.
type verdict string

const (
	isOK      verdict = "ok"
	isOther   verdict = "differs"
	isMissing verdict = "missing" // a line that has not come
	isExtra   verdict = "extra"   // a line that the transcript does not have
	isFailed  verdict = "failed"  // a step with an error
	isStopped verdict = "stopped" // by the user
)

// A row is a line of a block, with its verdict.
type row struct {
	Verdict verdict `json:"verdict"`
	Text    string  `json:"text,omitempty"` // the line that has come
	Want    string  `json:"want,omitempty"` // the line of the transcript, if it is another one
	At      int     `json:"at,omitempty"`   // its number in the transcript
}

// A reporter takes the events of a step.
type reporter func(event)

// oneAtATime returns a reporter that several goroutines can call at the same time.
func oneAtATime(report reporter) reporter {
	var mu sync.Mutex
	return func(e event) {
		mu.Lock()
		defer mu.Unlock()
		report(e)
	}
}

// showTranscript returns a reporter that calls show with each line of the transcript that is
// played.
func showTranscript(show func(line string)) reporter {
	return func(e event) {
		switch {
		case e.Event == commandEvent, e.Event == lineEvent && !e.grouped:
			show(e.Text)
		case e.Event == blockEvent:
			for _, line := range e.show {
				show(line)
			}
		}
	}
}

// The bounds of what -json writes, so that a step cannot flood its reader.
const (
	maxText  = 2_000  // bytes of a text
	maxLong  = 16_000 // bytes of a difference, an error or a note
	maxLines = 1_000  // events of lines, for each step
	maxRows  = 200    // for each block
)

// writeJSON returns a reporter that writes each event as a line of JSON.
func writeJSON(w io.Writer) reporter {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return func(e event) {
		switch {
		case e.Event == lineEvent && e.N > maxLines+1:
			return
		case e.Event == lineEvent && e.N > maxLines:
			e = event{Event: warningEvent, Text: fmt.Sprintf("more than %d lines: the others are not shown", maxLines)}
		}
		_ = encoder.Encode(e.bounded()) // a step cleans up even if nobody reads its output any more
	}
}

// bounded returns the event with its texts and rows cut to their bounds.
func (e event) bounded() event {
	e.Difference, e.Error = cut(e.Difference, maxLong), cut(e.Error, maxLong)
	if e.Event == noteEvent {
		e.Text = cut(e.Text, maxLong)
	} else {
		e.Text = cut(e.Text, maxText)
	}
	e.More = max(0, len(e.Rows)-maxRows)
	rows := make([]row, 0, len(e.Rows)-e.More)
	for _, r := range e.Rows[:len(e.Rows)-e.More] {
		r.Text, r.Want = cut(r.Text, maxText), cut(r.Want, maxText)
		rows = append(rows, r)
	}
	e.Rows = rows
	return e
}

// cut returns a text of at most limit bytes, and an ellipsis if the text is longer.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// end returns the event of a step that has ended with an error, or with nil.
func end(err error, stopped bool) event {
	e := event{Event: endEvent, Verdict: isOK, err: err}
	if stopped {
		e.Verdict = isStopped
		return e
	}
	diff, others := splitError(err)
	e.Difference = diff
	switch {
	case others != nil:
		e.Verdict, e.Error = isFailed, others.Error()
	case diff != "":
		e.Verdict = isOther
	}
	return e
}

// splitError returns the difference that an error has in it, and the rest of the error.
func splitError(err error) (diff string, others error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			d, other := splitError(part)
			diff, others = diff+d, errors.Join(others, other)
		}
		return diff, others
	}
	if d, ok := err.(*difference); ok {
		return d.text, nil
	}
	return "", err
}
