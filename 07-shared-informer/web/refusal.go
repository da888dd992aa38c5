// Requests that net/http refuses before any handler sees them.

package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

// refusing gives connections on which net/http's own refusals, in text or with
// nothing but a status, become ours, in JSON.
type refusing struct{ net.Listener }

func (l refusing) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

// refused is how such an answer begins, which net/http writes in one call. No
// other call can begin so: our own answers have other headers before these, and
// are JSON, in which there is no CR LF; where an answer is cut into chunks, a
// number follows each CR LF.
var refused = regexp.MustCompile(`^HTTP/1\.[01] (\d\d\d) ([^\r\n]*)\r\n(?:Content-Type: text/plain; charset=utf-8\r\n)?Connection: close\r\n`)

func (c conn) Write(p []byte) (int, error) {
	found := refused.FindSubmatch(p)
	if found == nil {
		return c.Conn.Write(p)
	}
	status, _ := strconv.Atoi(string(found[1]))
	_, reason, _ := bytes.Cut(p, []byte("\r\n\r\n")) // "400 Bad Request: malformed Host header", say
	if len(reason) == 0 {
		reason = found[2]
	}
	if _, err := c.Conn.Write(refusal(status, string(bytes.TrimLeft(reason, "0123456789 ")))); err != nil {
		return 0, err
	}
	c.linger()
	return len(p), nil
}

// refusal is 400 where net/http says 501 or 505: the mistake is the client's.
func refusal(status int, reason string) []byte {
	if status >= 500 {
		status = http.StatusBadRequest
	}
	body, _ := json.Marshal(gin.H{"error": "refused before any page saw it: " + reason}) // it never fails
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n\r\n%s", status, http.StatusText(status), len(body), body)
}

// linger reads what the client still sends, for half a second and 256 KiB at
// most: to close a connection with something unread takes the answer away from
// a client that has not read it yet.
func (c conn) linger() {
	c.CloseWrite()
	c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	io.CopyN(io.Discard, c.Conn, 256<<10)
}

// CloseWrite is what net/http looks for when it wants the client to read an
// answer before it hangs up.
func (c conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
