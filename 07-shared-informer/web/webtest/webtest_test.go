package webtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Bad answers are found to be bad, and good ones good.
func TestJudge(t *testing.T) {
	const isJSON = "application/json; charset=utf-8"
	for _, test := range []struct {
		status           int
		kind, body, want string
	}{
		{200, isJSON, `[]`, ""},
		{404, isJSON, `{"error":"there is none"}`, ""},
		{200, isJSON, `[`, "no JSON"},
		{200, isJSON, ``, "no JSON"},
		{404, isJSON, `{}`, "without its text"},
		{404, isJSON, `"gone"`, "without its text"},
		{404, "text/plain", `404`, "content type"},
		{400, "text/plain; charset=utf-8", `{"error":"x"}`, "content type"},
		{417, "", ``, "content type"},
		{301, isJSON, `{"error":"x"}`, "status 301"},
		{500, isJSON, `{"error":"x"}`, "status 500"},
		{503, isJSON, `{"error":"x"}`, "status 503"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", test.kind)
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}))
		response, body, err := exchange(server.Listener.Addr().String(), Request("GET", "/", "", "Host: localhost"))
		if err == nil {
			err = judge(response, body)
		}
		server.Close()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%d %s %s: got %v, want %q", test.status, test.kind, test.body, err, test.want)
		}
	}
}

func TestAnAnswerThatNeverCame(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer server.Close()
	if _, _, err := exchange(server.Listener.Addr().String(), Request("GET", "/", "", "Host: localhost")); err == nil {
		t.Error("got no error")
	}
}
