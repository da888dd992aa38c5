// How a request comes to its page, and what pages ask and answer with.

package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Pages are what a server shows, by gin's patterns: "/pods",
// "/indexes/:name/:value". They are read with GET or HEAD. A pattern that begins
// with "POST " is asked to do something: the page has to find out who asks.
type Pages map[string]gin.HandlerFunc

const post = "POST "

func (s *Server) engine(pages Pages) http.Handler {
	gin.SetMode(gin.ReleaseMode) // else it writes on stdout
	engine := gin.New()
	engine.RedirectTrailingSlash = false // see cleanPath
	engine.Use(headers, gin.CustomRecovery(failed), s.limited, s.ownHost, ownOrigin, cleanPath)
	engine.NoRoute(func(c *gin.Context) {
		if pages[post+c.Request.URL.Path] != nil {
			c.Header("Allow", http.MethodPost)
			Fail(c, http.StatusMethodNotAllowed, "there is nothing but POST here, got %q", c.Request.Method)
			return
		}
		if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
			c.Header("Allow", "GET, HEAD")
			Fail(c, http.StatusMethodNotAllowed, "there is nothing but GET and HEAD here, got %q", c.Request.Method)
			return
		}
		Fail(c, http.StatusNotFound, "there is no page %q", c.Request.URL.Path)
	})
	for _, pattern := range slices.Sorted(maps.Keys(pages)) {
		if path, ok := strings.CutPrefix(pattern, post); ok {
			engine.POST(path, pages[pattern])
			continue
		}
		engine.GET(pattern, pages[pattern])
		engine.HEAD(pattern, pages[pattern])
	}
	return engine
}

// policy is what a page may load: what is served here, and nothing inline. No other
// page may have it in a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// headers has browsers take JSON for nothing else, keep no copy of what may have
// changed in a moment, and give pages of other origins nothing.
func headers(c *gin.Context) {
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Security-Policy", policy)
	c.Header("Referrer-Policy", "no-referrer")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
}

// failed answers for a page that panics: the client gets an error, the log has
// the reason. An answer that had begun is broken off, so that the client does not
// take it for the whole.
func failed(c *gin.Context, _ any) {
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	Fail(c, http.StatusInternalServerError, "this page failed: the server's log says why")
}

// limited turns away what is too much at once.
func (s *Server) limited(c *gin.Context) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		c.Next()
	default:
		c.Header("Retry-After", "1")
		Fail(c, http.StatusServiceUnavailable, "the limit of requests at one time is reached, which is %d: try again",
			maxRequests)
	}
}

// cleanPath refuses paths that no link of ours has: there is one way to each
// page.
func cleanPath(c *gin.Context) {
	if clean := path.Clean("/" + c.Request.URL.Path); c.Request.URL.Path != clean {
		Fail(c, http.StatusBadRequest, "the path has empty parts, or dots for parts: did you mean %q?", clean)
	}
}

// Fail answers with an error, as {"error":"…"}. The page returns after it.
func Fail(c *gin.Context, status int, format string, args ...any) {
	c.AbortWithStatusJSON(status, gin.H{"error": fmt.Sprintf(format, args...)})
}

// Query returns the parameters of the query, of which a page names those that
// it knows. Any other, one that is given twice, and what cannot be decoded is
// answered with 400: then ok is false and the page returns. A parameter that
// was not given is not in the map.
func Query(c *gin.Context, names ...string) (query map[string]string, ok bool) {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		Fail(c, http.StatusBadRequest, "the query: %v", err)
		return nil, false
	}
	query = map[string]string{}
	for name, given := range values {
		switch {
		case !slices.Contains(names, name):
			Fail(c, http.StatusBadRequest, "the query: there is no parameter %q here (known: %q)", name, names)
			return nil, false
		case len(given) > 1:
			Fail(c, http.StatusBadRequest, "the query: %s is given %d times", name, len(given))
			return nil, false
		}
		query[name] = given[0]
	}
	return query, true
}
