// Package netfault is a TCP proxy on loopback that cuts the connections between a
// client and its server, on purpose.
package netfault

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/rest"
)

// A Proxy carries the bytes of the connections that are made with Dial, and knows nothing of what they
// mean. Reset, HalfClose and BlackHole hit the connections that are open. Refuse, Pull and Cut are
// about new ones, too, and last until Restore.
type Proxy struct {
	target  string
	serving sync.WaitGroup

	mu      sync.Mutex
	fault   error // what Dial fails with; nil: it does not
	refused bool  // Dial has failed with the fault
	cut     bool  // a new connection is closed at once
	conns   map[*conn]bool
}

// New returns a proxy to target, a host and port.
func New(target string) *Proxy { return &Proxy{target: target, conns: map[*conn]bool{}} }

// For returns a proxy to the API server that config names. A client goes through it whose
// configuration has the proxy's Dial; the server's certificate is checked as ever.
func For(config *rest.Config) (*Proxy, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	port := cmp.Or(server.Port(), server.Scheme) // net.Dial knows a port by its name
	return New(net.JoinHostPort(server.Hostname(), port)), nil
}

// Dial makes a connection to the target through the proxy, whatever the address. A server that refuses
// is a refused connection for the client, too, as on any network.
func (p *Proxy) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := p.admit(nil); err != nil {
		return nil, err
	}
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return nil, err
	}
	client, accepted, err := pair(ctx)
	if err != nil {
		server.Close()
		return nil, err
	}
	c := &conn{client: end{socket: accepted.(*net.TCPConn)}, server: end{socket: server.(*net.TCPConn)}}
	if err := p.admit(c); err != nil { // there was none a moment ago
		c.close()
		client.Close()
		return nil, err
	}
	return client, nil
}

// pair returns both ends of a connection on loopback.
func pair(ctx context.Context) (client, accepted net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	if client, err = new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String()); err != nil {
		return nil, nil, err
	}
	if accepted, err = listener.Accept(); err != nil {
		client.Close()
	}
	return client, accepted, err
}

// admit serves a connection, unless there is a fault. For nil it only says
// whether there is one.
func (p *Proxy) admit(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil || c == nil {
		p.refused = p.refused || p.fault != nil
		return p.fault
	}
	if p.cut {
		c.close()
	}
	p.conns[c] = true
	p.serving.Go(func() {
		c.serve()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	})
	return nil
}

// Refuse lets no new connection be made, as where nobody listens. Those that
// are open stay.
func (p *Proxy) Refuse() { p.set(dialError(syscall.ECONNREFUSED), false) }

// Pull pulls out the cable: it breaks all connections, and for new ones the network is unreachable. A
// reflector gives up its watch as soon as resuming it failed to dial, and asks for a list when it can.
func (p *Proxy) Pull() {
	p.set(dialError(syscall.ENETUNREACH), false)
	p.each((*conn).close)
}

// Cut breaks all connections, and each new one as soon as it is made: a
// reflector can go on trying to resume its watch.
func (p *Proxy) Cut() {
	p.set(nil, true)
	p.each((*conn).close)
}

// Restore ends Refuse, Pull and Cut.
func (p *Proxy) Restore() { p.set(nil, false) }

func (p *Proxy) set(fault error, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.cut, p.refused = fault, cut, p.refused && fault == nil
}

func dialError(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

// DialFailed reports whether Dial has failed since Refuse or Pull.
func (p *Proxy) DialFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// Reset ends all connections with a RST at both ends.
func (p *Proxy) Reset() {
	p.each(func(c *conn) {
		_ = c.client.socket.SetLinger(0) // close sends a RST
		_ = c.server.socket.SetLinger(0)
		c.close()
	})
}

// HalfClose ends what comes from the server with a FIN, in the midst of it;
// what the client sends still gets there.
func (p *Proxy) HalfClose() {
	p.each(func(c *conn) {
		c.client.lost.Store(true)
		_ = c.client.socket.CloseWrite()
	})
}

// BlackHole makes whatever is sent on the connections vanish, both ways, for
// ever: no FIN, no RST, no byte.
func (p *Proxy) BlackHole() {
	p.each(func(c *conn) {
		c.client.lost.Store(true)
		c.server.lost.Store(true)
	})
}

func (p *Proxy) each(do func(*conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		do(c)
	}
}

// Close ends the proxy and all of its connections.
func (p *Proxy) Close() {
	p.Refuse()
	p.each((*conn).close)
	p.serving.Wait()
}

// conn carries bytes between the client's socket and the server's.
type conn struct{ client, server end }

// end is a socket, and whether what is written to it is lost on the way.
type end struct {
	socket *net.TCPConn
	lost   atomic.Bool
}

func (e *end) Write(b []byte) (int, error) {
	if e.lost.Load() {
		return len(b), nil
	}
	n, err := e.socket.Write(b)
	if e.lost.Load() { // meanwhile
		return len(b), nil
	}
	return n, err
}

// serve carries bytes both ways until both ends have hung up, one of them
// breaks, or the connection is closed.
func (c *conn) serve() {
	var back sync.WaitGroup
	back.Go(func() { c.carry(&c.server, &c.client) })
	c.carry(&c.client, &c.server)
	back.Wait()
	c.close()
}

// carry carries what one end sends, and the end of it: an end that has no more
// to send can still receive. The client of a black hole gets no end before it has
// sent its own; with that, the connection ends.
func (c *conn) carry(from, to *end) {
	_, err := io.Copy(to, from.socket)
	switch blackHole := c.server.lost.Load(); {
	case blackHole && from == &c.server:
	case blackHole || err != nil:
		c.close()
	default:
		_ = to.socket.CloseWrite()
	}
}

func (c *conn) close() {
	c.client.socket.Close()
	c.server.socket.Close()
}
