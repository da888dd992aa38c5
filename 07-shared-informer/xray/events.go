// Server-sent events: a state, then records as they are made.

package xray

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
)

const (
	maxStreams  = 16               // at the same time
	aliveTime   = 10 * time.Second // between two signs of life
	sendTimeout = 10 * time.Second // for a client to take what is sent
)

// events sends until the client goes away, or all ends. A client that reads slowly
// holds up nobody: it asks for what came after the last record that it got, and gets
// a new state if that is too much.
func (x *XRay) events(c *gin.Context) {
	s, _, ok := x.subject(c)
	if !ok {
		return
	}
	select {
	case x.streams <- struct{}{}:
		defer func() { <-x.streams }()
	default:
		web.Fail(c, http.StatusServiceUnavailable, "%d pages get events already: close one", maxStreams)
		return
	}
	c.Header("Content-Type", "text/event-stream; charset=utf-8")
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return
	}
	connection := http.NewResponseController(c.Writer)
	if connection.SetReadDeadline(time.Time{}) != nil { // else the request would end with the server's timeout
		return
	}
	send := func(format string, args ...any) bool {
		if connection.SetWriteDeadline(time.Now().Add(sendTimeout)) != nil {
			return false
		}
		_, err := fmt.Fprintf(c.Writer, format, args...)
		return err == nil && connection.Flush() == nil
	}
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	for seq := int64(-1); ; {
		state, records, last, more, ok := s.recorder.after(seq)
		seq = last
		switch {
		case !ok:
			text, err := json.Marshal(x.complete(state))
			if err != nil {
				panic(err) // there is nothing in it that cannot be encoded
			}
			if !send("event: state\ndata: %s\n\n", text) {
				return
			}
		case records != nil:
			if !send("event: records\ndata: %s\n\n", records) {
				return
			}
			if more == nil {
				continue
			}
		}
		select {
		case <-more:
		case <-alive.C:
			if !send(": alive\n\n") {
				return
			}
		case <-c.Request.Context().Done():
			return
		case <-x.ctx.Done():
			return
		}
	}
}
