// Streams of server-sent events.

package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	sendTimeout   = 10 * time.Second // for a client to take an event
	aliveInterval = 10 * time.Second // between two comments that keep a stream open
)

// EventStreams limits how many clients get events at the same time.
type EventStreams struct{ slots chan struct{} }

// NewEventStreams returns a limit.
func NewEventStreams(limit int) EventStreams { return EventStreams{make(chan struct{}, limit)} }

// Serve answers a request with server-sent events. It calls send, which returns when the stream is
// to end. A client above the limit is refused.
func (e EventStreams) Serve(c *gin.Context, send func(*EventStream)) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	default:
		Fail(c, http.StatusServiceUnavailable, "%d pages get events already: close one", cap(e.slots))
		return
	}
	c.Header("Content-Type", "text/event-stream; charset=utf-8")
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return
	}
	s := &EventStream{c: c, connection: http.NewResponseController(c.Writer), alive: time.NewTicker(aliveInterval)}
	defer s.alive.Stop()
	// The read timeout of the server would end the request.
	if s.connection.SetReadDeadline(time.Time{}) == nil {
		send(s)
	}
}

// An EventStream sends server-sent events to a client.
type EventStream struct {
	c          *gin.Context
	connection *http.ResponseController
	alive      *time.Ticker
}

// Context returns a context that ends when the client has gone away.
func (s *EventStream) Context() context.Context { return s.c.Request.Context() }

// Send sends an event. It returns no error: if the client does not take the event in time, the
// context of the stream ends. The data has no line break in it.
func (s *EventStream) Send(data []byte) { s.write("data: %s\n\n", data) }

func (s *EventStream) write(format string, args ...any) {
	_ = s.connection.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, _ = fmt.Fprintf(s.c.Writer, format, args...)
	_ = s.connection.Flush()
}

// Await waits for more, at most for so long, and meanwhile keeps the stream open. It returns false
// if the client has gone away, or if done is closed.
func (s *EventStream) Await(more, done <-chan struct{}, atMost time.Duration) bool {
	late := time.After(atMost)
	for {
		select {
		case <-more:
			return true
		case <-late:
			return true
		case <-s.alive.C:
			s.write(": alive\n\n")
		case <-s.Context().Done():
			return false
		case <-done:
			return false
		}
	}
}
