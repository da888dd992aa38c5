// Package web protects a web server that is made with gin. It does not trust the clients: they may be
// slow, or many at the same time, and a request may come from a page of another server.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// DefaultAddr is the address that a server listens on for a user with a browser. It is easy to
// remember, and on the loopback interface.
const DefaultAddr = "127.0.0.1:4000"

// Addr returns the host and port to listen on: those of the flag -addr, if they are given. The
// default is DefaultAddr with -follow, which is for a user with a browser, and else any free port.
func Addr(given string, follow bool) string {
	switch {
	case given != "":
		return given
	case follow:
		return DefaultAddr
	}
	return "127.0.0.1:0"
}

const (
	maxRequests  = 64               // at the same time
	readTimeout  = 5 * time.Second  // for a client to send its request
	writeTimeout = 30 * time.Second // until the answer is written; the page or the client may be slow
	idleTimeout  = time.Minute      // for a connection between two requests
	stopTimeout  = 5 * time.Second  // for the requests in flight, when the server stops
)

// A Server serves from Serve until its context ends. An error is answered as JSON: {"error":"…"}.
type Server struct {
	chosen  string // the address that Serve was given
	addr    net.Addr
	handler http.Handler
	slots   chan struct{} // holds one element for each request in flight
	ended   chan error    // holds the error of the end, from the end on
}

// Serve listens on a host and port, and serves the routes of r in the background. Port 0 stands for
// any free port. When Serve returns, the server answers. When ctx ends, the server stops: see Wait. A
// guard, such as Token.Check, sees each request that the checks of the server let through, before r
// does.
func Serve(ctx context.Context, addr string, r *gin.Engine, guards ...gin.HandlerFunc) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another host and port with -addr, such as -addr 127.0.0.1:0", err)
	}
	return serve(ctx, addr, listener, r, guards...), nil
}

func serve(ctx context.Context, addr string, listener net.Listener, r *gin.Engine, guards ...gin.HandlerFunc) *Server {
	s := &Server{
		chosen: addr, addr: listener.Addr(),
		slots: make(chan struct{}, maxRequests), ended: make(chan error, 1),
	}
	s.handler = s.protect(r, guards...)
	server := &http.Server{
		Handler:        s.handler,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
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
			if served := <-serving; !errors.Is(served, http.ErrServerClosed) {
				err = errors.Join(err, served)
			}
			s.ended <- err
		}
	}()
	return s
}

// stop waits for the requests in flight, at most for stopTimeout. Then it cuts them off.
func (s *Server) stop(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if server.Shutdown(ctx) == nil {
		return nil
	}
	unfinished := len(s.slots) // 0 if the open connections have no request
	server.Close()
	if unfinished > 0 {
		return fmt.Errorf("stopping %s: cut off, as they had not ended after %v: %d of its requests",
			s.URL(), stopTimeout, unfinished)
	}
	return nil
}

// Wait returns when the server has stopped. The end of its context is not an error. It is an error if
// requests had to be cut off: their pages may still run, because nothing but a page itself can end it.
func (s *Server) Wait() error {
	err := <-s.ended
	s.ended <- err // for the next call of Wait
	return err
}

// URL returns the address of the server, such as http://127.0.0.1:4000.
func (s *Server) URL() string {
	if tcp, ok := s.addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + s.addr.String()
}

// Handler returns the handler of all requests, for tests that need no network.
func (s *Server) Handler() http.Handler { return s.handler }

// protect returns the handler of all requests: the checks and the guards, and behind them r. What r
// has no route for is answered as JSON, and never with a redirect.
func (s *Server) protect(r *gin.Engine, guards ...gin.HandlerFunc) http.Handler {
	r.RedirectTrailingSlash = false // each page has one path
	r.HandleMethodNotAllowed = true
	r.NoRoute(func(c *gin.Context) { Fail(c, http.StatusNotFound, "there is no page %q", c.Request.URL.Path) })
	r.NoMethod(func(c *gin.Context) {
		allowed := strings.Split(c.Writer.Header().Get("Allow"), ", ")
		slices.Sort(allowed)
		Fail(c, http.StatusMethodNotAllowed, "there is nothing but %s here, got %q", strings.Join(allowed, " and "),
			c.Request.Method)
	})
	outer := gin.New() // without routes, so that every request gets to NoRoute
	outer.Use(setHeaders, gin.CustomRecovery(recovered), s.limit, checkRequests(s.chosen, s.URL()))
	outer.Use(guards...)
	outer.NoRoute(gin.WrapH(r)) // r sets the status
	return outer
}

// setHeaders tells browsers to take JSON for nothing else, to keep no copy of an answer, which may
// soon be out of date, and to give nothing to pages of other origins. A page may load what this
// server serves, and nothing inline. No page of another server may show it in a frame.
func setHeaders(c *gin.Context) {
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	c.Header("Referrer-Policy", "no-referrer")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
}

// recovered answers for a page that has panicked. The client gets an error without the reason,
// which gin writes to the log. If the answer has begun, it is broken off, so that the client does
// not take it for the whole.
func recovered(c *gin.Context, _ any) {
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	Fail(c, http.StatusInternalServerError, "this page failed: the server's log says why")
}

// limit refuses a request while there are too many.
func (s *Server) limit(c *gin.Context) {
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
