package web

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// page is a page that streams.
func page[T any](items iter.Seq[T]) Pages {
	return Pages{"/": func(c *gin.Context) { Stream(c, items) }}
}

func TestStream(t *testing.T) {
	for want, items := range map[string][]string{
		"[]\n":                      nil,
		"[\"one\"]\n":               {"one"},
		"[\"one\",\n\"two <&>\"]\n": {"one", "two <&>"},
	} {
		s, _ := running(t, Options{}, page(slices.Values(items)))
		status, header, body := get(t, s.URL())
		var got []string
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || !slices.Equal(got, items) {
			t.Errorf("got %d %q, %v", status, body, err)
		}
		if plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(body); plain != want {
			t.Errorf("got %q, want %q", plain, want)
		}
		if kind := header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
			t.Errorf("content type %q", kind)
		}
		if status, _, body := do(t, http.MethodHead, s.URL()); status != 200 || body != "" {
			t.Errorf("HEAD: %d %q", status, body)
		}
	}
}

// endless counts what is taken from it, and may put in something else.
func endless(taken *int, item func(i int) any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for *taken = 1; yield(item(*taken)); *taken++ {
		}
	}
}

var long = strings.Repeat("x", 1000)

// The first part arrives while the server has no more than that.
func TestAStreamIsNotHeldBack(t *testing.T) {
	more := make(chan struct{})
	s, _ := running(t, Options{}, page(func(yield func(string) bool) {
		for range 100 { // more than the buffers hold
			if !yield(long) {
				return
			}
		}
		<-more
	}))
	response, err := client.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, streamBuffer/2)); err != nil {
		t.Error(err)
	}
	close(more)
	if rest, err := io.ReadAll(response.Body); err != nil || !strings.HasSuffix(string(rest), "\"]\n") {
		t.Errorf("the rest ends with %q, %v", rest[max(0, len(rest)-10):], err)
	}
}

func TestAnItemThatCannotBeEncoded(t *testing.T) {
	log := logged(t)
	for at, wantStatus := range map[int]int{1: 500, 3: 500, 1000: 200} {
		var taken int
		s, stop := running(t, Options{}, page(endless(&taken, func(i int) any {
			if i == at {
				return math.NaN()
			}
			return long
		})))
		response, err := client.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != wantStatus {
			t.Errorf("item %d: status %d, want %d", at, response.StatusCode, wantStatus)
		}
		switch wantStatus {
		case 500:
			if want := `{"error":"this page failed: the server's log says why"}`; string(body) != want || err != nil {
				t.Errorf("item %d: got %s, %v\nwant %s", at, body, err, want)
			}
		case 200: // it had begun
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
				t.Errorf("item %d: got %d bytes and error %v, want a part and that it is not whole", at, len(body), err)
			}
		}
		if err := stop(); err != nil || taken != at {
			t.Errorf("item %d: taken %d, %v", at, taken, err)
		}
	}
	if !strings.Contains(log(), "unsupported value: NaN") {
		t.Errorf("logged\n%s", log())
	}
}

func TestAPanicInTheMiddleOfAStream(t *testing.T) {
	log := logged(t)
	var taken int
	s, stop := running(t, Options{}, page(endless(&taken, func(i int) any {
		if i == 1000 {
			panic("no more of it")
		}
		return long
	})))
	response, err := client.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v, want that it is not whole", err)
	}
	if err := stop(); err != nil || !strings.Contains(log(), "no more of it") {
		t.Errorf("%v; logged\n%s", err, log())
	}
}

// The server stops only when the page has returned.
func TestAClientThatGoesAway(t *testing.T) {
	log := logged(t)
	var taken int
	s, stop := running(t, Options{}, page(endless(&taken, func(int) any { return long })))
	response, err := client.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 100)); err != nil {
		t.Error(err)
	}
	response.Body.Close()
	if err := stop(); err != nil {
		t.Errorf("Wait() = %v, want that the page ended by itself", err)
	}
	if log() != "" {
		t.Errorf("logged, for nothing:\n%s", log())
	}
}
