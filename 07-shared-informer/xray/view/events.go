// The stream of events: how a page gets what is new.

package view

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
)

const (
	maxStreams    = 16               // at the same time
	aliveInterval = 10 * time.Second // between two comments that keep a stream open
	sendTimeout   = 10 * time.Second // for a client to take a message
)

// events sends a message when there are new records, until the client goes away or the context of
// the view ends. A slow client holds up nobody: its next message has the state of that moment and
// the last records.
func (v *View) events(c *gin.Context, i int) {
	select {
	case v.streams <- struct{}{}:
		defer func() { <-v.streams }()
	default:
		web.Fail(c, http.StatusServiceUnavailable, "%d pages get events already: close one", maxStreams)
		return
	}
	c.Header("Content-Type", "text/event-stream; charset=utf-8")
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return
	}
	s, err := newEventStream(c)
	if err != nil {
		return
	}
	v.sendAll(s, i)
}

// sendAll sends messages until the client goes away or the context of the view ends.
func (v *View) sendAll(s *eventStream, i int) {
	alive := time.NewTicker(aliveInterval)
	defer alive.Stop()
	request := s.c.Request.Context() // it ends when the client goes away
	for seq := int64(-1); request.Err() == nil; {
		frame := v.recorders[i].After(seq)
		if frame.Seq != seq {
			seq = frame.Seq
			text, _ := json.Marshal(v.message(i, frame)) // it never fails: all values are JSON, texts or numbers
			s.send("data: %s\n\n", text)
			continue
		}
		select {
		case <-frame.More:
		case <-alive.C:
			s.send(": alive\n\n")
		case <-request.Done():
			return
		case <-v.ctx.Done():
			return
		}
	}
}

// An eventStream writes server-sent events to a client.
type eventStream struct {
	c          *gin.Context
	connection *http.ResponseController
}

// newEventStream lifts the read timeout of the server, which would end the request.
func newEventStream(c *gin.Context) (*eventStream, error) {
	s := &eventStream{c: c, connection: http.NewResponseController(c.Writer)}
	return s, s.connection.SetReadDeadline(time.Time{})
}

// send returns no error: if the client does not take the text in time, the context of its request
// ends.
func (s *eventStream) send(format string, args ...any) {
	_ = s.connection.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, _ = fmt.Fprintf(s.c.Writer, format, args...)
	_ = s.connection.Flush()
}
