// What can be chosen about a server.

package web

import (
	"cmp"
	"time"
)

// DefaultAddr is where a server listens if not told otherwise.
const DefaultAddr = "127.0.0.1:4000"

// Options of a Server. All have defaults.
type Options struct {
	// Addr is the host and port to listen on; port 0 is any free one.
	// Default: DefaultAddr.
	Addr string

	// MaxRequests is how many requests are worked on at the same time; one
	// more is told to come back later. Default: 64.
	MaxRequests int

	// ReadTimeout is how long a client may take to send its request, and
	// WriteTimeout how long it takes at most until its answer is written, be it
	// the page that is slow or the client. Default: 5 seconds and 30 seconds.
	ReadTimeout, WriteTimeout time.Duration

	// IdleTimeout is how long a connection may stay open between two requests.
	// Default: one minute.
	IdleTimeout time.Duration

	// StopTimeout is how long requests may go on once the server is to stop.
	// Default: 5 seconds.
	StopTimeout time.Duration
}

func (o *Options) setDefaults() {
	o.Addr = cmp.Or(o.Addr, DefaultAddr)
	o.MaxRequests = cmp.Or(o.MaxRequests, 64)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 5*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, time.Minute)
	o.StopTimeout = cmp.Or(o.StopTimeout, 5*time.Second)
}
