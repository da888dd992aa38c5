// Which hosts and origins a request may name.

package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// ownHost refuses requests for another host than this one. A web page can
// give its own name the address 127.0.0.1 and then read what is served here,
// as of its own origin (DNS rebinding); but the browser still sends that name.
// The answer is 421, Misdirected Request: it is not that the client may not
// see the page, it asks the wrong server.
func (s *Server) ownHost(c *gin.Context) {
	local, _ := c.Request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !isOwn(c.Request.Host, s.chosen, local) {
		Fail(c, http.StatusMisdirectedRequest, "this server does not answer for host %q: ask for %s",
			c.Request.Host, s.URL())
	}
}

// ownOrigin refuses what a page of another origin sends. A request that comes from
// no page names no origin.
func ownOrigin(c *gin.Context) {
	for _, origin := range c.Request.Header.Values("Origin") {
		if origin != "http://"+c.Request.Host {
			Fail(c, http.StatusForbidden, "a page of %q sent this request: only pages of this server may", origin)
			return
		}
	}
}

// isOwn is true for localhost, for every loopback address, for the host that
// was chosen to listen on, and for the address that the client has connected
// to. The port does not count: it may have been forwarded.
func isOwn(host, chosen string, local net.Addr) bool {
	name := hostname(host)
	if name != "" && (strings.EqualFold(name, "localhost") || strings.EqualFold(name, hostname(chosen))) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	tcp, ok := local.(*net.TCPAddr)
	return ip.IsLoopback() || ok && ip.Unmap() == tcp.AddrPort().Addr().Unmap()
}

// hostname takes away the port, and an IPv6 address's brackets.
func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }
