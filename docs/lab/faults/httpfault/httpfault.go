// Package httpfault has an http.RoundTripper that injects faults into the requests of an informer.
// It can answer instead of the server, delay answers, and change the frames of a watch. It counts
// requests by their outcomes.
package httpfault

import (
	"bytes"

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

// A Transport is an http.RoundTripper. It passes all requests on, until SetRule or Inject is
// called.
type Transport struct {
	next http.RoundTripper

	mu      sync.Mutex
	rule    Rule
	streams map[*stream]bool // the open watches
	counts  map[Count]int
}

// A Rule answers a request, or passes it on to the next http.RoundTripper.
type Rule func(request *http.Request, next http.RoundTripper) (*http.Response, error)

// Count is a kind of request and its outcome.
type Count struct {
	Resource string // such as pods
	Verb     requests.Verb
	Outcome  string // the HTTP status, "failed", or for a watch "ERROR" and a status
}

// New returns a Transport that passes requests on to next.
func New(next http.RoundTripper) *Transport {
	return &Transport{next: next, rule: Pass, streams: map[*stream]bool{}, counts: map[Count]int{}}
}

// Pass is a rule that lets the server answer.
func Pass(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	return next.RoundTrip(request)
}

// WrappedRoundTripper returns the next http.RoundTripper. client-go calls it to find the
// connections to close.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.mu.Lock()
	rule := t.rule
	t.mu.Unlock()
	count := Count{Resource: path.Base(request.URL.Path), Verb: requests.VerbOf(request), Outcome: "failed"}
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

// SetRule sets the rule for all requests from now on.
func (t *Transport) SetRule(rule Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rule = rule
}

// Refuse returns a rule that answers every request with this error. If the error has
// RetryAfterSeconds, the answer has a Retry-After header.
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

// Requests returns the number of requests for a resource, with an outcome and one of the verbs. An
// empty resource or outcome, or no verb at all, stands for any.
func (t *Transport) Requests(resource, outcome string, verbs ...requests.Verb) (n int) {
	for c, times := range t.Counts() {
		isResource := resource == "" || resource == c.Resource
		isOutcome := outcome == "" || outcome == c.Outcome
		isVerb := len(verbs) == 0 || slices.Contains(verbs, c.Verb)
		if isResource && isOutcome && isVerb {
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
	ready     bytes.Buffer // the bytes for the next calls of Read
	err       error        // the result of Read when ready is empty
	fault     FrameFault   // for the next frame; guarded by transport.mu
}

// Inject applies a fault to the next frame of every open watch.
func (t *Transport) Inject(fault FrameFault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		s.fault = fault
	}
}

// Pending returns the number of open watches that have a fault injected and have not got their next
// frame yet.
func (t *Transport) Pending() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		if s.fault != nil {
			n++
		}
	}
	return n
}

// Watches returns the number of open watches.
func (t *Transport) Watches() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.streams)
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

// fill reads the next frame from the server, and makes its bytes ready. A fault may change them.
func (s *stream) fill() {
	var frame json.RawMessage
	s.err = s.frames.Decode(&frame)
	t := s.transport
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.err == nil {
		s.fillFrom(frame)
	}
	if s.err != nil {
		delete(t.streams, s)
	}
}

// fillFrom makes the bytes of a frame ready. The caller holds transport.mu.
func (s *stream) fillFrom(frame []byte) {
	if code := errorCode(frame); code != 0 {
		count := s.request
		count.Outcome = fmt.Sprintf("ERROR %d", code)
		s.transport.counts[count]++
	}
	sent := append(frame, '\n')
	if s.fault != nil {
		sent, s.err = s.fault(frame)
		s.fault = nil
	}
	s.ready.Write(sent)
}

func (s *stream) Close() error {
	s.transport.mu.Lock()
	delete(s.transport.streams, s)
	s.transport.mu.Unlock()
	return s.body.Close()
}

// errorCode returns the status code of an ERROR event, -1 if the event has none, and 0 for other
// events.
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

// A FrameFault gets the next frame of a watch, and returns the bytes to send instead. If it returns
// an error, the stream ends after these bytes.
type FrameFault func(frame []byte) (sent []byte, err error)

// Cut ends the stream in the middle of the frame.
func Cut(frame []byte) ([]byte, error) { return frame[:len(frame)/2], io.EOF }

// Each of these faults sends something before the frame.
var (
	// Garbage is not JSON.
	Garbage = inFront(func(any) string { return "<html>\x00\xff\xfe 502 Bad Gateway</html>" })
	// UnknownType is an event of an unknown type.
	UnknownType = inFront(func(object any) string { return event("EXPLODED", object) })
	// ErrorEvent says that the server has failed.
	ErrorEvent = inFront(func(any) string {
		return event("ERROR", apierrors.NewInternalError(errors.New("made up")).ErrStatus)
	})
	// Expired says that the watch's version is too old.
	Expired = inFront(func(any) string { return event("ERROR", apierrors.NewResourceExpired("made up").ErrStatus) })
	// WrongKind is an event with an object of a kind that the watch is not for.
	WrongKind = inFront(func(any) string {
		return event("ADDED", json.RawMessage(`{"kind":"Secret","apiVersion":"v1","metadata":`+
			`{"name":"stray","namespace":"default","uid":"stray","resourceVersion":"1"}}`))
	})
	// NoName is an event with a copy of the frame's object, without a name.
	NoName = inFront(func(object any) string {
		metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
		delete(metadata, "name")
		return event("ADDED", object)
	})
)

// inFront returns a fault that sends a text before the frame. The text may depend on the object of
// the frame.
func inFront(text func(object any) string) FrameFault {
	return func(frame []byte) ([]byte, error) {
		var event struct{ Object any }
		err := json.Unmarshal(frame, &event)
		return fmt.Appendf(nil, "%s\n%s\n", text(event.Object), frame), err
	}
}

// event returns a frame with an event.
func event(kind string, object any) string {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // every object here comes from JSON, or can become JSON
	}
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, text)
}
