// Many pages: how they read a query, and answer with JSON or an error.

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Pages are what a server serves, by gin's patterns: "/pods", "/indexes/:name/:value". A page
// answers GET and HEAD. A pattern with another method before it, such as "POST /pods", answers that
// method. The pattern "*" answers for all paths that have no page.
type Pages map[string]gin.HandlerFunc

// Start serves pages: see Serve.
func Start(ctx context.Context, addr string, pages Pages, guards ...gin.HandlerFunc) (*Server, error) {
	return Serve(ctx, addr, pages.engine(), guards...)
}

// engine returns an engine with a route for each page.
func (p Pages) engine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode) // in its other modes gin writes on stdout
	r := gin.New()
	if page, ok := p["*"]; ok {
		r.Use(func(c *gin.Context) {
			if c.Writer.Status() == http.StatusNotFound { // gin has found no route
				page(c)
				c.Abort()
			}
		})
	}
	for pattern, page := range p {
		if pattern == "*" {
			continue
		}
		if method, path, ok := strings.Cut(pattern, " "); ok {
			r.Handle(method, path, page)
		} else {
			r.Match([]string{http.MethodGet, http.MethodHead}, pattern, page)
		}
	}
	return r
}

// JSON returns a page that answers with the value of get. The page takes no parameters except the
// named ones. If get returns an error, it is one of Errorf.
func JSON(get func(*gin.Context) (any, error), parameters ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if _, ok := Query(c, parameters...); !ok {
			return
		}
		value, err := get(c)
		if err == nil {
			c.JSON(http.StatusOK, value)
			return
		}
		var answer *statusError
		if !errors.As(err, &answer) {
			panic(err) // it may have what no client should see: the log gets it
		}
		Fail(c, answer.status, "%s", answer.text)
	}
}

// A statusError is an error for the client, with the status of the answer.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// Errorf returns an error for the client of a page.
func Errorf(status int, format string, args ...any) error {
	return &statusError{status: status, text: fmt.Sprintf(format, args...)}
}

// Fail answers with an error, as {"error":"…"}. The page returns after it.
func Fail(c *gin.Context, status int, format string, args ...any) {
	c.AbortWithStatusJSON(status, gin.H{"error": fmt.Sprintf(format, args...)})
}

// Query returns the parameters of the query. The page names the parameters that it knows. A
// parameter that is not given is not in the map. If the query has another parameter, or a parameter
// twice, or cannot be decoded, Query answers with 400 and returns false; then the page returns.
func Query(c *gin.Context, names ...string) (query map[string]string, ok bool) {
	query, err := parseQuery(c.Request.URL.RawQuery, names)
	if err != nil {
		Fail(c, http.StatusBadRequest, "the query: %v", err)
		return nil, false
	}
	return query, true
}

func parseQuery(raw string, names []string) (map[string]string, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, err
	}
	query := map[string]string{}
	for name, given := range values {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no parameter %q here (known: %q)", name, names)
		}
		if len(given) > 1 {
			return nil, fmt.Errorf("%s is given %d times", name, len(given))
		}
		query[name] = given[0]
	}
	return query, nil
}
