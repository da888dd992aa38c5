// A finding in gin, which serves the pages of chapters 07 and 08.

package findings

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

// A handler panics with http.ErrAbortHandler, as httputil.ReverseProxy does, so that the client
// notices that the answer is incomplete. With net/http alone, the client gets an error. With
// gin.Recovery, it gets status 200 and no error.
func TestGinsRecoveryMakesAnAbortedAnswerAGoodOne(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for _, begun := range []string{"", "half an "} {
		abort := func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, begun) // if this fails, the client gets another answer
			if begun != "" {
				w.(http.Flusher).Flush()
			}
			panic(http.ErrAbortHandler)
		}
		if status, body, err := get(http.HandlerFunc(abort)); err == nil {
			t.Errorf("without gin, the answer is %d %q, want an error", status, body)
		}
		engine := gin.New()
		engine.Use(gin.CustomRecoveryWithWriter(nil, func(*gin.Context, any) { fixed(t, "gin calls the function") }))
		engine.GET("/", func(c *gin.Context) { abort(c.Writer, c.Request) })
		if status, body, err := get(engine); status != http.StatusOK || body != begun || err != nil {
			fixed(t, "the answer is %d %q, the error %v", status, body, err)
		}
	}
}

func get(handler http.Handler) (status int, body string, err error) {
	server := httptest.NewServer(handler)
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
