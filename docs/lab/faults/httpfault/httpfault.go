// Package httpfault injects faults between an informer's client and its
// transport: it answers in the server's place, delays answers, changes the frames
// of a watch, and counts requests by their outcomes.
package httpfault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/requests"
)

// A Transport is a RoundTripper that passes everything on, until SetRule or Inject.
type Transport struct {
	next http.RoundTripper

	mu      sync.Mutex
	rule    Rule
	streams map[*stream]bool
	counts  map[Count]int
}

// A Rule answers a request, or passes it on to next.
type Rule func(request *http.Request, next http.RoundTripper) (*http.Response, error)

// Count is a kind of request and its outcome.
type Count struct {
	Resource string // such as pods
	Verb     requests.Verb
	Outcome  string // the HTTP status, "failed", or for a watch "ERROR" and a status
}

// New returns a transport in front of next.
func New(next http.RoundTripper) *Transport {
	return &Transport{next: next, rule: Pass, streams: map[*stream]bool{}, counts: map[Count]int{}}
}

// Pass is a rule that lets the server answer.
func Pass(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	return next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the connections below, to close them.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.mu.Lock()
	rule := t.rule
	t.mu.Unlock()
	count := Count{path.Base(request.URL.Path), requests.VerbOf(request), "failed"}
	response, err := rule(request, t.next)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		count.Outcome = strconv.Itoa(response.StatusCode)
		if response.StatusCode == http.StatusOK && count.Verb.Watches() {
			s := &stream{transport: t, request: count, body: response.Body, frames: json.NewDecoder(response.Body)}
			t.streams[s] = true
			response.Body = s
		}
	}
	t.counts[count]++
	return response, err
}

// SetRule lets rule answer from now on.
func (t *Transport) SetRule(rule Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rule = rule
}

// Refuse is a rule that answers every request with an error. The client is to
// wait for as many seconds as the error says.
func Refuse(status *apierrors.StatusError) Rule {
	return func(request *http.Request, _ http.RoundTripper) (*http.Response, error) {
		answer := httptest.NewRecorder()
		answer.Header().Set("Content-Type", "application/json")
		if details := status.ErrStatus.Details; details != nil && details.RetryAfterSeconds > 0 {
			answer.Header().Set("Retry-After", fmt.Sprint(details.RetryAfterSeconds))
		}
		answer.WriteHeader(int(status.ErrStatus.Code))
		err := json.NewEncoder(answer).Encode(status.ErrStatus)
		response := answer.Result()
		response.Request = request
		return response, err
	}
}

// Counts returns how many requests there were of each kind and outcome.
func (t *Transport) Counts() map[Count]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Requests is how many requests there were, of these verbs if any is given. An empty
// resource or outcome stands for any.
func (t *Transport) Requests(resource, outcome string, verbs ...requests.Verb) (n int) {
	for c, times := range t.Counts() {
		if cmp.Or(resource, c.Resource) == c.Resource && cmp.Or(outcome, c.Outcome) == c.Outcome &&
			(len(verbs) == 0 || slices.Contains(verbs, c.Verb)) {
			n += times
		}
	}
	return n
}

// stream is the body of a watch: frames, one JSON value after the other.
type stream struct {
	transport *Transport
	request   Count
	body      io.ReadCloser
	frames    *json.Decoder
	ready     bytes.Buffer // to be read next
	err       error        // to be returned after that
	fault     FrameFault   // for the next frame; guarded by transport.mu
}

// Inject puts a fault in the place of the next frame of every watch that is open.
func (t *Transport) Inject(fault FrameFault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		s.fault = fault
	}
}

// Pending is how many of these watches still wait for their next frame.
func (t *Transport) Pending() int { return t.count(func(s *stream) bool { return s.fault != nil }) }

// Watches is how many watches are open.
func (t *Transport) Watches() int { return t.count(func(*stream) bool { return true }) }

func (t *Transport) count(which func(*stream) bool) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		if which(s) {
			n++
		}
	}
	return n
}

func (s *stream) Read(p []byte) (int, error) {
	for s.ready.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
	return s.ready.Read(p)
}

// fill takes the next frame from the server.
func (s *stream) fill() {
	var frame json.RawMessage
	s.err = s.frames.Decode(&frame)
	t := s.transport
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.err == nil {
		if code := errorCode(frame); code != 0 {
			t.counts[Count{s.request.Resource, s.request.Verb, fmt.Sprintf("ERROR %d", code)}]++
		}
		if s.fault == nil {
			s.fault = func(frame []byte) ([]byte, error) { return append(frame, '\n'), nil }
		}
		var sent []byte
		sent, s.err = s.fault(frame)
		s.ready.Write(sent)
		s.fault = nil
	}
	if s.err != nil {
		delete(t.streams, s)
	}
}

func (s *stream) Close() error {
	s.transport.mu.Lock()
	delete(s.transport.streams, s)
	s.transport.mu.Unlock()
	return s.body.Close()
}

// errorCode is the HTTP status in an ERROR event, or 0 for other events.
func errorCode(frame []byte) int {
	if !bytes.HasPrefix(frame, []byte(`{"type":"ERROR"`)) {
		return 0
	}
	var event struct{ Object metav1.Status }
	if err := json.Unmarshal(frame, &event); err != nil {
		return -1
	}
	return int(event.Object.Code)
}

// A FrameFault gets the next frame of a watch and returns what is sent in its
// place. With an error, the stream ends after it.
type FrameFault func(frame []byte) (sent []byte, err error)

// Cut ends the stream in the middle of the frame.
func Cut(frame []byte) ([]byte, error) { return frame[:len(frame)/2], io.EOF }

// Each of these puts something in front of the frame.
var (
	// Garbage is not JSON.
	Garbage = inFront(func(any) string { return "<html>\x00\xff\xfe 502 Bad Gateway</html>" })
	// UnknownType is an event of a type that does not exist.
	UnknownType = inFront(func(object any) string { return event("EXPLODED", object) })
	// ErrorEvent says that the server has failed.
	ErrorEvent = inFront(func(any) string {
		return event("ERROR", apierrors.NewInternalError(errors.New("made up")).ErrStatus)
	})
	// Expired says that the watch's version is too old.
	Expired = inFront(func(any) string { return event("ERROR", apierrors.NewResourceExpired("made up").ErrStatus) })
	// WrongKind is an object of another kind, where a watch never has one.
	WrongKind = inFront(func(any) string {
		return event("ADDED", json.RawMessage(`{"kind":"Secret","apiVersion":"v1","metadata":`+
			`{"name":"stray","namespace":"default","uid":"stray","resourceVersion":"1"}}`))
	})
	// NoName is a copy of the frame's object that has lost its name.
	NoName = inFront(func(object any) string {
		metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
		delete(metadata, "name")
		return event("ADDED", object)
	})
)

func inFront(what func(object any) string) FrameFault {
	return func(frame []byte) ([]byte, error) {
		var event struct{ Object any }
		err := json.Unmarshal(frame, &event)
		return fmt.Appendf(nil, "%s\n%s\n", what(event.Object), frame), err
	}
}

func event(kind string, object any) string {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // it was JSON before
	}
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, text)
}
