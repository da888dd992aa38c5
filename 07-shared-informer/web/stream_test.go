package web

import (
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// page is a page that streams.
func page[T any](items iter.Seq[T]) Pages {
	return Pages{"/": func(c *gin.Context) { Stream(c, items) }}
}

func TestStream(t *testing.T) {
	for want, items := range map[string][]string{
		"[]\n": nil, "[\"one\"]\n": {"one"}, "[\"one\",\n\"two\"]\n": {"one", "two"},
	} {
		s := running(t, page(slices.Values(items)))
		status, header, body := do(t, "GET", s.URL(), "")
		kind := header.Get("Content-Type")
		expect.That(t, status == 200 && body == want && kind == "application/json; charset=utf-8",
			"got %d %s %q\nwant %q", status, kind, body, want)
	}
}

var long = strings.Repeat("x", 1000)

// The first part arrives while the server has no more than that.
func TestAStreamIsNotHeldBack(t *testing.T) {
	more := make(chan struct{})
	s := running(t, page(func(yield func(string) bool) {
		for range 100 { // more than the buffers hold
			if !yield(long) {
				return
			}
		}
		<-more
	}))
	response, err := client.Get(s.URL())
	must.Do(t, err)
	defer response.Body.Close()
	_, err = io.ReadFull(response.Body, make([]byte, streamBuffer/2))
	close(more)
	must.Do(t, err)
	if rest, err := io.ReadAll(response.Body); err != nil || !strings.HasSuffix(string(rest), "\"]\n") {
		t.Errorf("the rest ends with %q, %v", rest[max(0, len(rest)-10):], err)
	}
}

// A client does not take what has been broken off for whole.
func TestAnItemThatCannotBeEncoded(t *testing.T) {
	for at, wantStatus := range map[int]int{1: 500, 3: 500, 1000: 200} { // by then a part was sent
		s := running(t, page(func(yield func(any) bool) {
			for i := 1; i < at && yield(long); i++ {
			}
			yield(math.NaN())
		}))
		response, err := client.Get(s.URL())
		must.Do(t, err)
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
		broken := errors.Is(err, io.ErrUnexpectedEOF)
		expect.That(t, response.StatusCode == wantStatus && broken == (wantStatus == 200),
			"item %d: status %d, %v; want %d", at, response.StatusCode, err, wantStatus)
	}
}

// The page returns, and then the server can stop.
func TestAClientThatGoesAway(t *testing.T) {
	returned := make(chan struct{})
	s := running(t, page(func(yield func(string) bool) {
		defer close(returned)
		for yield(long) {
		}
	}))
	response, err := client.Get(s.URL())
	must.Do(t, err)
	_, err = io.ReadFull(response.Body, make([]byte, 100))
	must.Do(t, err)
	response.Body.Close()
	select {
	case <-returned:
	case <-time.After(time.Minute):
		t.Error("the page goes on")
	}
}
