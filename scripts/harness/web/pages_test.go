// The answers to requests.

package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/web/webtest"
)

func TestAnswers(t *testing.T) {
	s := running(t, helloPages)
	const unclean = `{"error":"the path has empty parts, or dots for parts: did you mean \"%s\"?"}`
	for _, test := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/", 200, `{"name":"","query":{},"value":""}`},
		{"GET", "/pods?app=a%20b", 200, `{"name":"","query":{"app":"a b"},"value":""}`},
		{"GET", "/pods?app=", 200, `{"name":"","query":{"app":""},"value":""}`},
		{"GET", "/indexes/by/%C3%A4+b", 200, `{"name":"by","query":{},"value":"ä+b"}`},
		{"GET", "/indexes/by", 404, `{"error":"there is no page \"/indexes/by\""}`},
		{"GET", "/pods/", 400, fmt.Sprintf(unclean, "/pods")},
		{"GET", "/indexes//x", 400, fmt.Sprintf(unclean, "/indexes/x")},
		{"GET", "/x/%2e%2e/pods", 400, fmt.Sprintf(unclean, "/pods")},
		{"GET", "/pods?App=x", 400, `{"error":"the query: there is no parameter \"App\" here (known: [\"app\"])"}`},
		{"GET", "/pods?app=a&app=b", 400, `{"error":"the query: app is given 2 times"}`},
		{"GET", "/pods?app=%zz", 400, `{"error":"the query: invalid URL escape \"%zz\""}`},
		{"HEAD", "/pods", 200, ""},
		{"HEAD", "/no/such/page", 404, ""},
		{"POST", "/pods", 405, `{"error":"there is nothing but GET and HEAD here, got \"POST\""}`},
		{"DELETE", "/no/such/page", 404, `{"error":"there is no page \"/no/such/page\""}`},
	} {
		status, header, body := do(t, test.method, s.URL()+test.path, "")
		if status != test.status || body != test.want {
			t.Errorf("%s %s: got %d %s\nwant %d %s", test.method, test.path, status, body, test.status, test.want)
		}
		for name, want := range map[string]string{
			"Content-Type":           "application/json; charset=utf-8",
			"X-Content-Type-Options": "nosniff",
			"Cache-Control":          "no-store",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s %s: header %s is %q, want %q", test.method, test.path, name, got, want)
			}
		}
	}
}

func TestAPageOfAnotherMethod(t *testing.T) {
	s := running(t, Pages{"/": hello, "POST /do/:name": hello, "POST /do": hello, "PUT /do": hello})
	for _, test := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"POST", "/do", 200, `{"name":"","query":{},"value":""}`},
		{"POST", "/do/x", 200, `{"name":"x","query":{},"value":""}`},
		{"GET", "/do", 405, `{"error":"there is nothing but POST and PUT here, got \"GET\""}`},
		{"POST", "/", 405, `{"error":"there is nothing but GET and HEAD here, got \"POST\""}`},
	} {
		status, _, body := do(t, test.method, s.URL()+test.path, "")
		if status != test.status || body != test.want {
			t.Errorf("%s %s: got %d %s\nwant %d %s", test.method, test.path, status, body, test.status, test.want)
		}
	}
}

func TestAPageThatPanics(t *testing.T) {
	s := running(t, Pages{"/": func(*gin.Context) { panic("the secret reason") }, "/fine": hello})
	want := `{"error":"this page failed: the server's log says why"}`
	status, _, body := do(t, "GET", s.URL(), "")
	if status != 500 || body != want {
		t.Errorf("the page that panics: got %d %s\nwant 500 %s", status, body, want)
	}
	status, _, body = do(t, "GET", s.URL()+"/fine", "")
	if status != 200 {
		t.Errorf("another page after that: got %d %s, want 200", status, body)
	}
}

// The client gets an error of Errorf. Any other error may have what no client should see.
func TestAPageWithAnError(t *testing.T) {
	s := running(t, Pages{
		"/json":   JSON(func(*gin.Context) (any, error) { return nil, Errorf(409, "%q is taken", "a") }),
		"/secret": JSON(func(*gin.Context) (any, error) { return nil, errors.New("the secret reason") }),
	})
	for path, want := range map[string]string{
		"/json":     `409 {"error":"\"a\" is taken"}`,
		"/secret":   `500 {"error":"this page failed: the server's log says why"}`,
		"/json?a=b": `400 {"error":"the query: there is no parameter \"a\" here (known: [])"}`,
	} {
		status, _, body := do(t, "GET", s.URL()+path, "")
		if got := fmt.Sprint(status, " ", body); got != want {
			t.Errorf("GET %s = %s\nwant %s", path, got, want)
		}
	}
}

// Every request that net/http accepts is answered with JSON, and never with a redirect or a 5xx. An
// answer has an error if and only if its status is not 200.
func FuzzRequests(f *testing.F) {
	handler := running(f, helloPages).Handler()
	webtest.AddRequests(f, "/", "/pods", "/indexes/by/x", "/x/all")
	f.Fuzz(func(t *testing.T, method, target, host string) {
		request := webtest.Request(method, target, host)
		if request == nil {
			return // net/http refuses it
		}
		text := fmt.Sprintf("%s %s for %s", method, target, host)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		var body struct{ Error string }
		if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
			t.Errorf("%q: got %s, want JSON: %v", text, answer.Body, err)
		}
		switch {
		case answer.Code == 200:
			if body.Error != "" {
				t.Errorf("%q: got 200 with the error %q, want none", text, body.Error)
			}
		case answer.Code >= 400 && answer.Code < 500:
			if body.Error == "" {
				t.Errorf("%q: got %d %s, want an error in it", text, answer.Code, answer.Body)
			}
		default:
			t.Errorf("%q: got %d %s, want 200 or 4xx", text, answer.Code, answer.Body)
		}
	})
}
