package fault

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"k8s.io/client-go/rest"
)

// A Proxy is a TCP proxy on loopback. It copies the bytes of the connections that are made with
// Dial. Reset, HalfClose and BlackHole break the connections that are open. Refuse, Pull and Cut
// also affect new connections, until Restore.
type Proxy struct {
	target  string
	serving sync.WaitGroup

	mu         sync.Mutex
	fault      error // the error of Dial; nil: Dial works
	dialFailed bool  // Dial has returned the fault
	cut        bool  // a new connection is closed immediately
	conns      map[*conn]bool
}

// New returns a proxy to target, a host and port.
func New(target string) *Proxy { return &Proxy{target: target, conns: map[*conn]bool{}} }

// For returns a proxy to the API server that config names. A client uses the proxy if its
// configuration has the proxy's Dial. The client still checks the server's certificate.
func For(config *rest.Config) (*Proxy, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	port := cmp.Or(server.Port(), server.Scheme) // net.Dial knows a port by its name
	return New(net.JoinHostPort(server.Hostname(), port)), nil
}

// Dial makes a connection to the target through the proxy. It ignores the address. If the server
// refuses the connection, Dial fails, as it would without a proxy.
func (p *Proxy) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := p.checkFault(); err != nil {
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
	if err := p.serve(c); err != nil {
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
	client, err = new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	accepted, err = listener.Accept()
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, accepted, nil
}

// checkFault returns the fault, and notes that Dial has failed with it.
func (p *Proxy) checkFault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkFaultLocked()
}

func (p *Proxy) checkFaultLocked() error {
	if p.fault != nil {
		p.dialFailed = true
	}
	return p.fault
}

// serve serves a connection, unless there is a fault.
func (p *Proxy) serve(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.checkFaultLocked(); err != nil {
		return err
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

// Refuse makes Dial fail, as if nobody listened. Open connections stay.
func (p *Proxy) Refuse() { p.set(dialError(syscall.ECONNREFUSED), false) }

// Pull pulls out the cable: it breaks all connections, and Dial fails because the network is
// unreachable. A reflector that fails to dial when it resumes its watch gives up the watch, and
// lists when it can.
func (p *Proxy) Pull() {
	p.set(dialError(syscall.ENETUNREACH), false)
	p.each((*conn).close)
}

// Cut breaks all connections, and each new connection immediately after Dial. Dial does not fail,
// and so a reflector tries again and again to resume its watch.
func (p *Proxy) Cut() {
	p.set(nil, true)
	p.each((*conn).close)
}

// Restore ends Refuse, Pull and Cut.
func (p *Proxy) Restore() { p.set(nil, false) }

func (p *Proxy) set(fault error, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.cut = fault, cut
	if fault != nil {
		p.dialFailed = false // Dial has not failed with the new fault yet
	}
}

func dialError(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

// DialFailed reports whether Dial has failed since Refuse or Pull.
func (p *Proxy) DialFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialFailed
}

// Reset ends all connections with a RST for both ends.
func (p *Proxy) Reset() {
	p.each(func(c *conn) {
		_ = c.client.socket.SetLinger(0) // close sends a RST
		_ = c.server.socket.SetLinger(0)
		c.close()
	})
}

// HalfClose sends a FIN to the clients, in the middle of a response. The bytes of a client still
// reach the server.
func (p *Proxy) HalfClose() {
	p.each(func(c *conn) {
		c.client.lost.Store(true)
		_ = c.client.socket.CloseWrite()
	})
}

// BlackHole drops all bytes of the connections, in both directions and forever. Neither end gets a
// FIN or a RST.
func (p *Proxy) BlackHole() {
	p.each(func(c *conn) {
		c.client.lost.Store(true)
		c.server.lost.Store(true)
	})
}

// each calls do for each open connection.
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
