package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Frames changes the frames of watches: a frame is an event in JSON. The zero value is ready for use,
// and passes all frames on.
type Frames struct {
	mu      sync.Mutex
	streams map[*stream]bool // the open watches
	errors  map[int]int      // the number of ERROR events, by their code
}

// Wrap puts Frames in front of a client's connections. It is an argument for rest.Config.Wrap.
func (f *Frames) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, answer: f.answer}
}

func (f *Frames) answer(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK || request.URL.Query().Get("watch") == "" {
		return response, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams == nil {
		f.streams, f.errors = map[*stream]bool{}, map[int]int{}
	}
	s := &stream{of: f, body: response.Body, frames: json.NewDecoder(response.Body)}
	f.streams[s] = true
	response.Body = s
	return response, nil
}

// Inject applies a fault to the next frame of every open watch.
func (f *Frames) Inject(fault FrameFault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		s.fault = fault
	}
}

// Pending returns the number of open watches that have a fault injected and have not got their next
// frame yet.
func (f *Frames) Pending() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		if s.fault != nil {
			n++
		}
	}
	return n
}

// Watches returns the number of open watches.
func (f *Frames) Watches() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}

// Errors returns how many ERROR events with this code the server has sent.
func (f *Frames) Errors(code int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errors[code]
}

// A stream is the body of a watch: frames, one JSON value after the other.
type stream struct {
	of     *Frames
	body   io.ReadCloser
	frames *json.Decoder
	ready  bytes.Buffer // the bytes for the next calls of Read
	err    error        // the result of Read when ready is empty
	fault  FrameFault   // for the next frame; guarded by Frames.mu
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
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.err == nil {
		s.fillFrom(frame)
	}
	if s.err != nil {
		delete(s.of.streams, s)
	}
}

// fillFrom makes the bytes of a frame ready. The caller holds Frames.mu.
func (s *stream) fillFrom(frame []byte) {
	if code := errorCode(frame); code != 0 {
		s.of.errors[code]++
	}
	sent := append(frame, '\n')
	if s.fault != nil {
		sent, s.err = s.fault(frame)
		s.fault = nil
	}
	s.ready.Write(sent)
}

func (s *stream) Close() error {
	s.of.mu.Lock()
	delete(s.of.streams, s)
	s.of.mu.Unlock()
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

// CutFrame ends the stream in the middle of the frame.
func CutFrame(frame []byte) ([]byte, error) { return frame[:len(frame)/2], io.EOF }

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

func event(kind string, object any) string {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // every object here comes from JSON, or can become JSON
	}
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, text)
}
