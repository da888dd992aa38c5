// Answers that end early.

package web

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/must"
)

var long = strings.Repeat("x", 1000)

// endless returns a page that writes until it cannot. Then it calls ended.
func endless(ended func()) Pages {
	return Pages{"/": func(c *gin.Context) {
		defer ended()
		for {
			if _, err := io.WriteString(c.Writer, long); err != nil {
				return
			}
		}
	}}
}

// A client does not take an answer that was broken off for the whole.
func TestAnAnswerThatFailsInTheMiddle(t *testing.T) {
	s := running(t, Pages{"/": func(c *gin.Context) {
		_, _ = io.WriteString(c.Writer, long)
		c.Writer.Flush() // the client has the status
		panic("the rest cannot be encoded")
	}})
	response, err := client.Get(s.URL())
	must.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the answer is %d with %d bytes, error %v; want %v", response.StatusCode, len(body), err,
			io.ErrUnexpectedEOF)
	}
}

// The page returns, and then the server can stop.
func TestAClientThatGoesAway(t *testing.T) {
	returned := make(chan struct{})
	s := running(t, endless(func() { close(returned) }))
	response, err := client.Get(s.URL())
	must.NoError(t, err)
	_, err = io.ReadFull(response.Body, make([]byte, 100))
	must.NoError(t, err)
	response.Body.Close()
	select {
	case <-returned:
	case <-time.After(time.Minute):
		t.Error("a minute after the client went away, the page has not returned")
	}
}
