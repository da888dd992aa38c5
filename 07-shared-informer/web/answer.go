// What pages ask and answer with: errors, and the values of a query.

package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
)

// Fail answers with an error, as {"error":"…"}. The page returns after it.
func Fail(c *gin.Context, status int, format string, args ...any) {
	c.AbortWithStatusJSON(status, gin.H{"error": fmt.Sprintf(format, args...)})
}

// failed answers for a page that could not; the reason is in the log only.
func failed(c *gin.Context) {
	if c.Writer.Written() {
		panic(http.ErrAbortHandler) // it is too late to say so: hang up
	}
	Fail(c, http.StatusInternalServerError, "this page failed: the server's log says why")
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
	query = make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch given := values[name]; {
		case !slices.Contains(names, name):
			Fail(c, http.StatusBadRequest, "the query: there is no parameter %q here (known: %q)", name, names)
			return nil, false
		case len(given) > 1:
			Fail(c, http.StatusBadRequest, "the query: %s is given %d times", name, len(given))
			return nil, false
		case !printable(given[0]):
			Fail(c, http.StatusBadRequest, "the query: %s has control characters, or is not UTF-8", name)
			return nil, false
		}
		query[name] = values.Get(name)
	}
	return query, true
}

func printable(text string) bool {
	return utf8.ValidString(text) && !slices.ContainsFunc([]rune(text), unicode.IsControl)
}
