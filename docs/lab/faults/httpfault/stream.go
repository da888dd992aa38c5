// The frames of a watch, one JSON value after the other, and where faults are
// injected into them.

package httpfault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A FrameFault gets the next frame of a watch and returns what is sent in its
// place. With last, the stream ends after it.
type FrameFault func(frame []byte) (sent []byte, last bool)

// stream is the body of a watch.
type stream struct {
	transport *Transport
	request   Count
	body      io.ReadCloser
	frames    *json.Decoder
	ready     bytes.Buffer // to be read next
	err       error        // to be returned after that
	fault     FrameFault   // for the next frame; guarded by transport.mu
}

func (t *Transport) newStream(request Count, body io.ReadCloser) *stream {
	s := &stream{transport: t, request: request, body: body, frames: json.NewDecoder(body)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[s] = true
	return s
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
func (t *Transport) Pending() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for s := range t.streams {
		if s.fault != nil {
			n++
		}
	}
	return n
}

// Watches is how many watches are open.
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

// fill takes the next frame from the server.
func (s *stream) fill() {
	var frame json.RawMessage
	if s.err = s.frames.Decode(&frame); s.err != nil {
		s.remove()
		return
	}
	if code := errorCode(frame); code != 0 {
		s.transport.add(Count{s.request.Resource, s.request.Verb, fmt.Sprintf("ERROR %d", code)})
	}
	sent, last := append([]byte(frame), '\n'), false
	if fault := s.takeFault(); fault != nil {
		sent, last = fault(frame)
	}
	s.ready.Write(sent)
	if last {
		s.err = io.EOF
		s.remove()
	}
}

func (s *stream) takeFault() FrameFault {
	s.transport.mu.Lock()
	defer s.transport.mu.Unlock()
	fault := s.fault
	s.fault = nil
	return fault
}

func (s *stream) remove() {
	s.transport.mu.Lock()
	defer s.transport.mu.Unlock()
	delete(s.transport.streams, s)
}

func (s *stream) Close() error {
	s.remove()
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
