// What the pages' comments say of gin.

package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

// No middleware can recover from it: it happens before the first one is called.
func TestGinPanicsOverAMethod(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.Use(gin.RecoveryWithWriter(nil))
	for _, pattern := range []string{"/:resource", "/healthz"} {
		engine.GET(pattern, func(*gin.Context) {})
		engine.HEAD(pattern, func(*gin.Context) {})
	}
	defer func() {
		if recover() == nil {
			t.Error("it did not panic: readOnly could be left to gin now")
		}
	}()
	engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/healthz", nil))
}

func TestGinTakesAPlusForASpace(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.UseEscapedPath = true
	var got string
	engine.GET("/:name", func(c *gin.Context) { got = c.Param("name") })
	engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a+b%2Fc", nil))
	if got != "a b/c" {
		t.Errorf("got %q, want %q: decoded could be left to gin now", got, "a b/c")
	}
}
