// Streams, and what ends them early.

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

	"example.com/informer/scripts/harness/must"
)

// streamPage returns a page that streams items.
func streamPage[T any](items iter.Seq[T]) Pages {
	return Pages{"/": List(func(*gin.Context) (iter.Seq[T], error) { return items, nil })}
}

func TestStream(t *testing.T) {
	for _, test := range []struct {
		items []string
		want  string
	}{
		{nil, "[]\n"},
		{[]string{"a"}, "[\"a\"]\n"},
		{[]string{"a", "b"}, "[\"a\",\n\"b\"]\n"},
	} {
		s := running(t, streamPage(slices.Values(test.items)))
		status, header, body := do(t, "GET", s.URL(), "")
		if status != 200 || body != test.want {
			t.Errorf("a stream of %q: got %d %q, want 200 %q", test.items, status, body, test.want)
		}
		if got, want := header.Get("Content-Type"), "application/json; charset=utf-8"; got != want {
			t.Errorf("a stream of %q: header Content-Type is %q, want %q", test.items, got, want)
		}
	}
}

var long = strings.Repeat("x", 1000)

// The first part arrives before the server has the rest.
func TestAStreamIsNotHeldBack(t *testing.T) {
	more := make(chan struct{})
	s := running(t, streamPage(func(yield func(string) bool) {
		for range 100 { // more than the buffers hold
			if !yield(long) {
				return
			}
		}
		<-more
	}))
	response, err := client.Get(s.URL())
	must.NoError(t, err)
	defer response.Body.Close()
	_, err = io.ReadFull(response.Body, make([]byte, streamBuffer/2))
	close(more)
	must.NoError(t, err)
	rest, err := io.ReadAll(response.Body)
	if want := "\"]\n"; err != nil || !strings.HasSuffix(string(rest), want) {
		t.Errorf("the rest ends with %q and error %v, want %q and none", rest[max(0, len(rest)-10):], err, want)
	}
}

// A client does not take an answer that was broken off for the whole. If nothing was sent yet, the
// client gets an error.
func TestAnItemThatCannotBeEncoded(t *testing.T) {
	for _, test := range []struct {
		at     int // the item that cannot be encoded
		status int
		broken bool // in the middle of the answer
	}{
		{at: 1, status: 500},
		{at: 3, status: 500},
		{at: 1000, status: 200, broken: true},
	} {
		s := running(t, streamPage(func(yield func(any) bool) {
			for i := 1; i < test.at && yield(long); i++ {
			}
			yield(math.NaN())
		}))
		response, err := client.Get(s.URL())
		must.NoError(t, err)
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("item %d: status %d, want %d", test.at, response.StatusCode, test.status)
		}
		if got := errors.Is(err, io.ErrUnexpectedEOF); got != test.broken {
			t.Errorf("item %d: the answer ends with error %v; broken off: %t, want %t", test.at, err, got, test.broken)
		}
	}
}

// The page returns, and then the server can stop.
func TestAClientThatGoesAway(t *testing.T) {
	returned := make(chan struct{})
	s := running(t, streamPage(func(yield func(string) bool) {
		defer close(returned)
		for yield(long) {
		}
	}))
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
