// The pages of a server: how they read a query, and answer with an error.

package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"
)

// Pages are what a server serves, by gin's patterns: "/pods", "/indexes/:name/:value". A page
// answers GET and HEAD. A pattern with another method before it, such as "POST /pods", answers that
// method.
type Pages map[string]gin.HandlerFunc

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
