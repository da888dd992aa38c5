// Package cable is a session's line to the API server, which can be pulled out
// and plugged in again.
package cable

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/rest"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/proxy"
	"example.com/informer/03-reflector/requests"
)

// A Cable goes through a proxy and counts what is asked over it.
type Cable struct {
	Session *kube.Session // talks over this cable
	Asked   requests.Counter

	wire    *proxy.Proxy
	out     atomic.Bool
	refused atomic.Bool
}

// New returns a cable to the server that s talks to.
func New(s *kube.Session) (*Cable, error) {
	wire, through, err := proxy.NewFor(s.Config)
	if err != nil {
		return nil, err
	}
	c := &Cable{wire: wire}
	c.Session, err = s.With(func(config *rest.Config) {
		through(config)
		dial := config.Dial
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if c.out.Load() {
				c.refused.Store(true)
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ENETUNREACH}
			}
			return dial(ctx, network, address)
		}
		c.Asked.Count(config)
	})
	if err != nil {
		wire.Close()
		return nil, err
	}
	return c, nil
}

// Flicker breaks all connections and lets new ones through at once: a watch
// goes on where it was.
func (c *Cable) Flicker() {
	c.wire.Cut()
	c.wire.Mend()
}

// Pull breaks all connections, and lets no new one be made until Plug: there
// is no way to the server. A reflector gives up its watch as soon as resuming
// it was Refused, and asks for a list when it can. (If something closed its
// connections after accepting them, it could go on trying to resume.)
func (c *Cable) Pull() {
	c.refused.Store(false)
	c.out.Store(true)
	c.wire.Cut()
}

// Refused is true when a connection was refused since Pull.
func (c *Cable) Refused() bool { return c.refused.Load() }

// Plug ends Pull.
func (c *Cable) Plug() {
	c.wire.Mend()
	c.out.Store(false)
}

// Close gives back all connections.
func (c *Cable) Close() {
	c.Session.Cluster.Close()
	c.wire.Close()
}
