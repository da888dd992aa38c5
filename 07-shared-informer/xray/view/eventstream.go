package view

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const sendTimeout = 10 * time.Second // for a client to take a message

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
