// The frames of a watch, one JSON value after the other, and tricks played on them.

package tamper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Trick gets the next frame of a watch and returns what is sent in its
// place. With last, the stream ends after it.
type Trick func(frame []byte) (sent []byte, last bool)

// stream is the body of a watch.
type stream struct {
	transport *Transport
	asked     Count
	body      io.ReadCloser
	frames    *json.Decoder
	ready     bytes.Buffer // to be read next
	err       error        // to be returned after that
	trick     Trick        // for the next frame; guarded by transport.mu
}

func (t *Transport) newStream(asked Count, body io.ReadCloser) *stream {
	s := &stream{transport: t, asked: asked, body: body, frames: json.NewDecoder(body)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[s] = true
	return s
}

// Play plays a trick on the next frame of every watch that is open.
func (t *Transport) Play(trick Trick) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		s.trick = trick
	}
}

// Unplayed is on how many of them the trick is yet to be played.
func (t *Transport) Unplayed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for s := range t.streams {
		if s.trick != nil {
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
		s.forget()
		return
	}
	if code := errorCode(frame); code != 0 {
		s.transport.count(Count{s.asked.Resource, s.asked.Verb, fmt.Sprintf("ERROR %d", code)})
	}
	sent, last := append([]byte(frame), '\n'), false
	if trick := s.takeTrick(); trick != nil {
		sent, last = trick(frame)
	}
	s.ready.Write(sent)
	if last {
		s.err = io.EOF
		s.forget()
	}
}

func (s *stream) takeTrick() Trick {
	s.transport.mu.Lock()
	defer s.transport.mu.Unlock()
	trick := s.trick
	s.trick = nil
	return trick
}

func (s *stream) forget() {
	s.transport.mu.Lock()
	defer s.transport.mu.Unlock()
	delete(s.transport.streams, s)
}

func (s *stream) Close() error {
	s.forget()
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
