// What pages ask and answer with, and which requests are for them.

package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Pages are what a server shows, by gin's patterns: "/pods",
// "/indexes/:name/:value". They are read with GET or HEAD. A pattern with another
// method before it, such as "POST /pods", is asked to do something.
type Pages map[string]gin.HandlerFunc

// headers has browsers take JSON for nothing else, keep no copy of what may have
// changed in a moment, and give pages of other origins nothing. A page may load what is
// served here, and nothing inline; no other page may have it in a frame.
func headers(c *gin.Context) {
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
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

// isOwn is true for localhost, for every loopback address, for the host that
// was chosen to listen on, and for the address that the client has connected
// to. The port does not count: it may have been forwarded.
func isOwn(host, chosen string, local net.Addr) bool {
	name, listening := (&url.URL{Host: host}).Hostname(), (&url.URL{Host: chosen}).Hostname()
	if name != "" && (strings.EqualFold(name, "localhost") || strings.EqualFold(name, listening)) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	tcp, ok := local.(*net.TCPAddr)
	return err == nil && (ip.IsLoopback() || ok && ip.Unmap() == tcp.AddrPort().Addr().Unmap())
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
	query = map[string]string{}
	for name, given := range values {
		if query[name] = given[0]; !slices.Contains(names, name) {
			err = fmt.Errorf("there is no parameter %q here (known: %q)", name, names)
		} else if len(given) > 1 {
			err = fmt.Errorf("%s is given %d times", name, len(given))
		}
	}
	if err != nil {
		Fail(c, http.StatusBadRequest, "the query: %v", err)
	}
	return query, err == nil
}

// streamBuffer is what Stream holds back at most, besides one element.
const streamBuffer = 64 << 10

// Stream answers with a JSON array of the items, one to a line, each encoded
// when it is its turn: the whole is never in memory, but only streamBuffer and
// one item, however long the list. When the client goes away, or does not take
// it all within the writeTimeout, no more are asked for.
func Stream[T any](c *gin.Context, items iter.Seq[T]) {
	c.Header("Content-Type", "application/json; charset=utf-8")
	out := bufio.NewWriterSize(c.Writer, streamBuffer)
	separator := "["
	for item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			panic(err)
		}
		out.WriteString(separator)
		separator = ",\n"
		if _, err := out.Write(text); err != nil {
			return // the client is gone
		}
	}
	if separator == "[" {
		out.WriteString("[")
	}
	out.WriteString("]\n")
	out.Flush()
}
