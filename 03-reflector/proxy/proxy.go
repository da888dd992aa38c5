// Package proxy puts a TCP proxy between a client and its server, so that the
// connection between them can be cut, and mended, on purpose.
package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"

	"k8s.io/client-go/rest"
)

// A Proxy passes on bytes between whoever connects to it and its target, and
// knows nothing of what they mean. It listens on loopback only.
type Proxy struct {
	target   string
	listener net.Listener
	serving  sync.WaitGroup // the accept loop and all connections

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool // both ends of each connection; none while cut
}

// New starts a proxy to target, a host and port.
func New(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a proxy to %s: %w", target, err)
	}
	p := &Proxy{target: target, listener: listener, conns: map[net.Conn]bool{}}
	p.serving.Go(p.accept)
	return p, nil
}

// NewFor starts a proxy to the API server that config names, and returns with
// it a change for such a configuration: clients made from it go through the
// proxy. The server's certificate is checked as ever.
func NewFor(config *rest.Config) (*Proxy, func(*rest.Config), error) {
	target, err := address(config.Host)
	if err != nil {
		return nil, nil, err
	}
	p, err := New(target)
	if err != nil {
		return nil, nil, err
	}
	return p, func(c *rest.Config) {
		c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", p.listener.Addr().String())
		}
	}, nil
}

// address returns the host and port of a URL.
func address(server string) (string, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil:
		return "", fmt.Errorf("the API server's address: %w", err)
	case u.Host == "":
		return "", fmt.Errorf("the API server's address %q is no URL", server)
	case u.Port() != "":
		return u.Host, nil
	case u.Scheme == "http":
		return u.Host + ":80", nil
	default:
		return u.Host + ":443", nil
	}
}

// Cut breaks all connections, and every new one at once, until Mend.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.drop()
}

// Mend lets new connections through again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// Close ends the proxy and all of its connections.
func (p *Proxy) Close() {
	p.Cut()
	p.listener.Close()
	p.serving.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.serving.Go(func() { p.serve(client) })
	}
}

// serve passes bytes both ways until either end hangs up or the proxy is cut.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.admit(client) {
		return
	}
	defer p.forget(client)
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.admit(server) {
		return
	}
	defer p.forget(server)

	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(client, server)
		client.Close()
	})
	io.Copy(server, client)
	server.Close()
	back.Wait()
}

// admit registers a connection to be dropped by the next Cut; while the proxy
// is cut there is no admission.
func (p *Proxy) admit(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.conns[conn] = true
	}
	return !p.cut
}

func (p *Proxy) forget(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// drop closes every connection. The caller holds mu.
func (p *Proxy) drop() {
	for conn := range p.conns {
		conn.Close()
		delete(p.conns, conn)
	}
}
