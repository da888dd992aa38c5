// The checks of a request: whether it is meant for this server, and comes from a page of this
// server.

package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"github.com/gin-gonic/gin"
)

// checkRequests refuses requests for another host, from a page of another server, or for a path
// that is not clean. chosen is the address that Serve was given, and ownURL is that of the server.
func checkRequests(chosen, ownURL string) gin.HandlerFunc {
	return func(c *gin.Context) {
		switch {
		case !checkHost(c, chosen, ownURL):
		case !checkOrigin(c):
		default:
			checkPath(c)
		}
	}
}

// checkHost refuses a request for another host. A web page can give its own name the address
// 127.0.0.1, and then read what this server serves as if it were of its own origin (DNS rebinding).
// But the browser still sends that name. The answer is 421, Misdirected Request, because the client
// has asked the wrong server.
func checkHost(c *gin.Context, chosen, ownURL string) bool {
	local, _ := c.Request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if isOwnHost(c.Request.Host, chosen, local) {
		return true
	}
	Fail(c, http.StatusMisdirectedRequest, "this server does not answer for host %q: ask for %s", c.Request.Host,
		ownURL)
	return false
}

// isOwnHost reports whether a host is localhost, a loopback address, the host of the address that
// Serve was given, or the address that the client has connected to. The port does not count,
// because it may be a forwarded one.
func isOwnHost(host, chosen string, local net.Addr) bool {
	name := hostname(host)
	if name == "" {
		return false
	}
	if strings.EqualFold(name, "localhost") || strings.EqualFold(name, hostname(chosen)) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	tcp, ok := local.(*net.TCPAddr)
	return ok && ip.Unmap() == tcp.AddrPort().Addr().Unmap()
}

// hostname returns a host without its port.
func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }

// checkOrigin refuses a request from a page of another server. A request that no page sent has no
// origin.
func checkOrigin(c *gin.Context) bool {
	for _, origin := range c.Request.Header.Values("Origin") {
		if origin != "http://"+c.Request.Host {
			Fail(c, http.StatusForbidden, "a page of %q sent this request: only pages of this server may", origin)
			return false
		}
	}
	return true
}

// checkPath refuses a path with empty parts or dots, because each page has one path.
func checkPath(c *gin.Context) {
	if clean := path.Clean("/" + c.Request.URL.Path); c.Request.URL.Path != clean {
		Fail(c, http.StatusBadRequest, "the path has empty parts, or dots for parts: did you mean %q?", clean)
	}
}
