// Package web serves read-only JSON pages with gin, to clients that it does
// not trust: slow ones, many at once, and those that a web page sends here.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

// A Server serves its pages from Start until its context ends.
//
// What it answers is JSON, an error too: {"error":"…"}, and whatever a client
// does wrong is 4xx. That holds for requests that net/http refuses before any
// handler sees them: 400 is the answer to what is no HTTP, to an unknown version
// of it and to an unknown Transfer-Encoding, 417 to an unknown Expect, 431 to
// headers of more than 20 KiB; then it hangs up.
type Server struct {
	opts  Options
	addr  net.Addr
	http  *http.Server
	slots chan struct{} // holds one element for each request under way
	cut   func()        // ends the contexts of all requests
	ended chan struct{} // closed when err is final
	err   error
}

// Start listens, and serves the pages in the background. When it returns, the
// pages can be asked for; when ctx ends, the server stops. Wait says how.
func Start(ctx context.Context, opts Options, pages Pages) (*Server, error) {
	opts.setDefaults()
	listener, err := listen(ctx, opts.Addr)
	if err != nil {
		return nil, err
	}
	return start(ctx, opts, pages, listener), nil
}

func start(ctx context.Context, opts Options, pages Pages, listener net.Listener) *Server {
	s := &Server{
		opts:  opts,
		addr:  listener.Addr(),
		slots: make(chan struct{}, opts.MaxRequests),
		ended: make(chan struct{}),
	}
	requests, cut := context.WithCancel(context.WithoutCancel(ctx)) // what is under way may end in peace
	s.cut = cut
	s.http = &http.Server{
		Handler:                      s.engine(pages),
		BaseContext:                  func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout:            opts.ReadTimeout,
		ReadTimeout:                  opts.ReadTimeout,
		WriteTimeout:                 opts.WriteTimeout,
		IdleTimeout:                  opts.IdleTimeout,
		MaxHeaderBytes:               16 << 10, // net/http adds 4 KiB of its own
		DisableGeneralOptionsHandler: true,     // OPTIONS * is ours to refuse
		ErrorLog:                     slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
	}
	go s.run(ctx, listener)
	return s
}

// URL is where the pages are, such as http://127.0.0.1:4000, without a slash
// at its end.
func (s *Server) URL() string {
	if tcp, ok := s.addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(tcp.Port)
	}
	return "http://" + s.addr.String()
}

// Wait returns when the server has stopped. That its context ended is no
// error; that requests had to be cut off is one.
func (s *Server) Wait() error {
	<-s.ended
	return s.err
}

func (s *Server) run(ctx context.Context, listener net.Listener) {
	defer close(s.ended)
	defer s.cut()
	serving := make(chan error, 1)
	go func() { serving <- s.http.Serve(refusing{listener}) }()
	select {
	case <-ctx.Done():
		s.err = s.stop()
		<-serving
	case err := <-serving:
		s.err = errors.Join(fmt.Errorf("serving on %s: %w", s.addr, err), s.stop())
	}
}

// stop lets the requests under way end, for as long as StopTimeout. Those that
// have not ended then lose their connection and their context; a page that
// heeds neither is waited for as long again, and left behind.
func (s *Server) stop() error {
	patience, cancel := context.WithTimeout(context.Background(), s.opts.StopTimeout)
	defer cancel()
	if s.http.Shutdown(patience) == nil {
		return nil
	}
	unfinished := len(s.slots)
	s.http.Close() // first, so that nobody takes what a page says at its end for an answer
	s.cut()

	giveUp := time.After(s.opts.StopTimeout)
	for taken := range cap(s.slots) { // who holds all slots knows that no page does
		select {
		case s.slots <- struct{}{}:
		case <-giveUp:
			return fmt.Errorf("stopping %s: left behind, as they did not return even when cut off: %d of its requests",
				s.URL(), len(s.slots)-taken)
		}
	}
	if unfinished > 0 {
		return fmt.Errorf("stopping %s: cut off, as they had not ended after %v: %d of its requests", s.URL(), s.opts.StopTimeout, unfinished)
	}
	return nil // there were only connections on which nothing was asked
}
