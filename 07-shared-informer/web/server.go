// Package web serves pages with gin, most of them read-only JSON, to clients that
// it does not trust: slow ones, many at once, and those that a web page sends here.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// DefaultAddr is an address for a server to listen on: the loopback interface.
const DefaultAddr = "127.0.0.1:4000"

const (
	maxRequests  = 64               // at the same time
	readTimeout  = 5 * time.Second  // for a client to send its request
	writeTimeout = 30 * time.Second // until the answer is written, be it the page that is slow or the client
	idleTimeout  = time.Minute      // for a connection between two requests
	stopTimeout  = 5 * time.Second  // for requests to end once the server is to stop
)

// A Server serves its pages from Start until its context ends. What a page
// answers is JSON, an error too: {"error":"…"}.
type Server struct {
	chosen string // the address that Start was given
	addr   net.Addr
	slots  chan struct{} // holds one element for each request under way
	ended  chan error
}

// Start listens on a host and port, where port 0 is any free one, and serves
// the pages in the background. When it returns, the pages can be asked for;
// when ctx ends, the server stops. Wait says how.
func Start(ctx context.Context, addr string, pages Pages) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another host and port with -addr, such as -addr 127.0.0.1:0", err)
	}
	return start(ctx, addr, listener, pages), nil
}

func start(ctx context.Context, addr string, listener net.Listener, pages Pages) *Server {
	s := &Server{chosen: addr, addr: listener.Addr(), slots: make(chan struct{}, maxRequests)}
	s.ended = make(chan error, 1)
	server := &http.Server{
		Handler: s.engine(pages), ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: 16 << 10,
	}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()
	go func() {
		select {
		case err := <-serving:
			s.ended <- errors.Join(fmt.Errorf("serving on %s: %w", s.addr, err), server.Close())
		case <-ctx.Done():
			err := s.stop(server)
			<-serving
			s.ended <- err
		}
	}()
	return s
}

// stop lets the requests under way end, for as long as stopTimeout.
func (s *Server) stop(server *http.Server) error {
	patience, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if server.Shutdown(patience) == nil {
		return nil
	}
	unfinished := len(s.slots) // none, if there are only connections on which nothing was asked
	server.Close()
	if unfinished > 0 {
		return fmt.Errorf("stopping %s: cut off, as they had not ended after %v: %d of its requests",
			s.URL(), stopTimeout, unfinished)
	}
	return nil
}

// Wait returns when the server has stopped. That its context ended is no
// error; that requests had to be cut off is one.
func (s *Server) Wait() error {
	err := <-s.ended
	s.ended <- err // for whoever asks next
	return err
}

// URL is where the pages are, such as http://127.0.0.1:4000.
func (s *Server) URL() string {
	if tcp, ok := s.addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + s.addr.String()
}

// engine brings a request to its page, if it may.
func (s *Server) engine(pages Pages) http.Handler {
	gin.SetMode(gin.ReleaseMode) // else it writes on stdout
	engine := gin.New()
	engine.RedirectTrailingSlash = false // there is one way to each page
	engine.Use(headers, gin.CustomRecovery(failed), s.limited, s.checked)
	engine.NoRoute(func(c *gin.Context) { Fail(c, http.StatusNotFound, "there is no page %q", c.Request.URL.Path) })
	engine.HandleMethodNotAllowed = true
	engine.NoMethod(func(c *gin.Context) {
		allowed := strings.Split(c.Writer.Header().Get("Allow"), ", ")
		slices.Sort(allowed)
		Fail(c, http.StatusMethodNotAllowed, "there is nothing but %s here, got %q", strings.Join(allowed, " and "),
			c.Request.Method)
	})
	for pattern, page := range pages {
		if method, path, ok := strings.Cut(pattern, " "); ok {
			engine.Handle(method, path, page)
		} else {
			engine.Match([]string{http.MethodGet, http.MethodHead}, pattern, page)
		}
	}
	return engine
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

// checked refuses what no page of ours has sent. A web page can give its own name the
// address 127.0.0.1 and then read what is served here, as of its own origin (DNS
// rebinding); but the browser still sends that name. The answer is 421, Misdirected
// Request: it is not that the client may not see the page, it asks the wrong server. A
// request that comes from no page names no origin.
func (s *Server) checked(c *gin.Context) {
	local, _ := c.Request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	origins, clean := c.Request.Header.Values("Origin"), path.Clean("/"+c.Request.URL.Path)
	switch foreign := slices.IndexFunc(origins, func(o string) bool { return o != "http://"+c.Request.Host }); {
	case !isOwn(c.Request.Host, s.chosen, local):
		Fail(c, http.StatusMisdirectedRequest, "this server does not answer for host %q: ask for %s",
			c.Request.Host, s.URL())
	case foreign >= 0:
		Fail(c, http.StatusForbidden, "a page of %q sent this request: only pages of this server may", origins[foreign])
	case c.Request.URL.Path != clean:
		Fail(c, http.StatusBadRequest, "the path has empty parts, or dots for parts: did you mean %q?", clean)
	}
}
