// How a request comes to its page: what gin is told, and what stands before
// every page.

package web

import (
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"

	"github.com/gin-gonic/gin"
)

// Pages are what a server shows, by gin's patterns: "/pods",
// "/indexes/:name/:value". They are read with GET or HEAD. A value in a path
// may hold a slash, written as %2F; c.Param gives it decoded.
type Pages map[string]gin.HandlerFunc

// engine has one way to each page: gin would also redirect to a page from
// paths that are like its own.
func (s *Server) engine(pages Pages) http.Handler {
	gin.SetMode(gin.ReleaseMode) // else it writes on stdout
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.UseEscapedPath = true      // so that %2F is no slash
	engine.UnescapePathValues = false // gin takes + for a space; see decoded
	engine.Use(headers, s.limited, recovered, s.ownHost, readOnly, cleanPath, decoded)
	engine.NoRoute(func(c *gin.Context) {
		Fail(c, http.StatusNotFound, "there is no page %q", c.Request.URL.Path)
	})
	for _, pattern := range slices.Sorted(maps.Keys(pages)) {
		engine.GET(pattern, pages[pattern])
		engine.HEAD(pattern, pages[pattern])
	}
	return engine
}

// headers tells browsers to take JSON for nothing else, and to keep no copy
// of what may have changed in a moment.
func headers(c *gin.Context) {
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	if c.Request.ContentLength != 0 {
		c.Header("Connection", "close") // no page reads a body: do not wait for it
	}
}

// limited turns away what is too much at once.
func (s *Server) limited(c *gin.Context) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		c.Next()
	default:
		c.Header("Retry-After", "1")
		Fail(c, http.StatusServiceUnavailable, "the limit of requests at one time is reached, which is %d: try again", cap(s.slots))
	}
}

// recovered keeps a page that fails to itself: the client is told that, and
// the log why. An answer that had begun is broken off, so that the client
// does not take it for whole.
func recovered(c *gin.Context) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			slog.Error("web: a page panicked", "path", c.Request.URL.Path, "panic", p, "stack", string(debug.Stack()))
			failed(c)
		}
	}()
	c.Next()
	if err := c.Errors.Last(); err != nil && !c.Writer.Written() { // c.JSON could not encode its object
		slog.Error("web: a page failed", "path", c.Request.URL.Path, "error", err.Err)
		failed(c)
	}
}

// readOnly answers for every path, a page's or not. (gin could do it per page,
// but it looks up the path in the tree of each method, and its memory of the
// lookup before can make it panic: TestGinPanicsOverAMethod.)
func readOnly(c *gin.Context) {
	if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		c.Header("Allow", "GET, HEAD")
		Fail(c, http.StatusMethodNotAllowed, "there is nothing but GET and HEAD here, got %q", c.Request.Method)
	}
}

const maxURI = 4 << 10

// cleanPath refuses paths that no link of ours has.
func cleanPath(c *gin.Context) {
	asked := c.Request.URL.EscapedPath()
	clean := path.Clean("/" + asked)
	switch {
	case len(c.Request.RequestURI) > maxURI:
		Fail(c, http.StatusRequestURITooLong, "the path and query have %d bytes, and may have %d", len(c.Request.RequestURI), maxURI)
	case !printable(c.Request.URL.Path):
		Fail(c, http.StatusBadRequest, "the path has control characters, or is not UTF-8")
	case asked != clean:
		Fail(c, http.StatusBadRequest, "the path has empty parts, or dots for parts: did you mean %q?", clean)
	}
}

// decoded undoes the percent-encoding of a page's values, after gin has told
// them apart by the slashes.
func decoded(c *gin.Context) {
	for i := range c.Params {
		value, err := url.PathUnescape(c.Params[i].Value)
		if err != nil {
			Fail(c, http.StatusBadRequest, "the path: %v", err)
			return
		}
		c.Params[i].Value = value
	}
}
