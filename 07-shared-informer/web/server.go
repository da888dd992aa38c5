// Package web serves pages with gin, most of them read-only JSON, to clients that
// it does not trust: slow ones, many at once, and those that a web page sends here.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
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
