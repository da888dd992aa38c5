// Which answer a request gets.

package web

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

func TestAnswers(t *testing.T) {
	s, _ := running(t, Options{}, helloPages)
	for _, test := range []struct {
		path, want string
		status     int
	}{
		{"/", `{"name":"","query":{},"value":""}`, 200},
		{"/pods?app=a%20b", `{"name":"","query":{"app":"a b"},"value":""}`, 200},
		{"/pods?app=", `{"name":"","query":{"app":""},"value":""}`, 200},
		{"/indexes/by/a+b%2Fc%25", `{"name":"by","query":{},"value":"a+b/c%"}`, 200},
		{"/indexes/%2e%2e/%C3%A4", `{"name":"..","query":{},"value":"ä"}`, 200}, // names, not ways
		{"/indexes/by", `{"error":"there is no page \"/indexes/by\""}`, 404},
		{"/pods/web", `{"error":"there is no page \"/pods/web\""}`, 404},
		{"/pods/", `{"error":"the path has empty parts, or dots for parts: did you mean \"/pods\"?"}`, 400},
		{"/indexes//x", `{"error":"the path has empty parts, or dots for parts: did you mean \"/indexes/x\"?"}`, 400},
		{"/x/../pods", `{"error":"the path has empty parts, or dots for parts: did you mean \"/pods\"?"}`, 400},
		{"/a%00b", `{"error":"the path has control characters, or is not UTF-8"}`, 400},
		{"/a%ffb", `{"error":"the path has control characters, or is not UTF-8"}`, 400},
		{"/" + strings.Repeat("a", maxURI), `{"error":"the path and query have 4097 bytes, and may have 4096"}`, 414},
		{"/pods?App=x", `{"error":"the query: there is no parameter \"App\" here (known: [\"app\"])"}`, 400},
		{"/pods?app=a&app=b", `{"error":"the query: app is given 2 times"}`, 400},
		{"/pods?app=%00", `{"error":"the query: app has control characters, or is not UTF-8"}`, 400},
		{"/pods?app=%zz", `{"error":"the query: invalid URL escape \"%zz\""}`, 400},
		{"/pods?app=a;b", `{"error":"the query: invalid semicolon separator in query"}`, 400},
	} {
		status, header, body := get(t, s.URL()+test.path)
		if status != test.status || body != test.want {
			t.Errorf("%.50s: got %d %s\nwant %d %s", test.path, status, body, test.status, test.want)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%.50s: %s is %q, want %q", test.path, name, got, want)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	s, _ := running(t, Options{}, helloPages)
	for _, path := range []string{"/pods", "/no/such/page"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "UNHEARD-OF"} {
			status, header, body := do(t, method, s.URL()+path)
			if status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" || !strings.HasPrefix(body, `{"error":"`) {
				t.Errorf("%s %s: got %d, Allow %q, %s", method, path, status, header.Get("Allow"), body)
			}
		}
	}
	for path, want := range map[string]int{"/pods": 200, "/no/such/page": 404} {
		if status, _, body := do(t, http.MethodHead, s.URL()+path); status != want || body != "" {
			t.Errorf("HEAD %s: got %d %q, want %d and no body", path, status, body, want)
		}
	}
}

func TestAPageThatFails(t *testing.T) {
	log := logged(t)
	s, _ := running(t, Options{}, Pages{
		"/panics": func(*gin.Context) { panic("the secret reason") },
		"/nan":    func(c *gin.Context) { c.JSON(http.StatusOK, math.NaN()) },
		"/fine":   hello,
	})
	for path, reason := range map[string]string{"/panics": "the secret reason", "/nan": "unsupported value: NaN"} {
		status, _, body := get(t, s.URL()+path)
		if want := `{"error":"this page failed: the server's log says why"}`; status != 500 || body != want {
			t.Errorf("%s: got %d %s\nwant 500 %s", path, status, body, want)
		}
		if !strings.Contains(log(), reason) {
			t.Errorf("%s: logged\n%s\nwant %q in it", path, log(), reason)
		}
	}
	if status, _, body := get(t, s.URL()+"/fine"); status != 200 {
		t.Errorf("after that: %d %s", status, body)
	}
}
