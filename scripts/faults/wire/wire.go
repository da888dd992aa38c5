// Package wire is the network between an informer and its server: a TCP proxy
// on loopback whose connections can be reset, half-closed and black-holed.
package wire

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

// A Wire carries the bytes of the connections that are made with Dial, and
// knows nothing of what they mean. Its faults hit the connections that are
// open; new ones can be made at once, unless they are refused.
type Wire struct {
	target   string
	listener net.Listener
	serving  sync.WaitGroup

	pairing sync.Mutex // one connection at a time is made

	mu      sync.Mutex
	refused bool
	links   map[*link]bool
}

// New returns a wire to target, a host and port.
func New(target string) (*Wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a proxy to %s: %w", target, err)
	}
	return &Wire{target: target, listener: listener, links: map[*link]bool{}}, nil
}

// Dial makes a connection to the target through the proxy. A server that
// refuses is a refused connection for the client, too, as on any network.
func (w *Wire) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if w.isRefused() {
		return nil, refusedConnection(network)
	}
	server, err := new(net.Dialer).DialContext(ctx, "tcp", w.target)
	if err != nil {
		return nil, err
	}
	client, near, err := w.pair(ctx)
	if err != nil {
		server.Close()
		return nil, err
	}
	l := &link{near: near, far: server.(*net.TCPConn), closed: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused { // meanwhile; and after Close there must be no more
		l.close()
		client.Close()
		return nil, refusedConnection(network)
	}
	w.links[l] = true
	w.serving.Go(func() {
		l.serve()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.links, l)
	})
	return client, nil
}

func refusedConnection(network string) error {
	return &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// pair returns both ends of a connection on loopback.
func (w *Wire) pair(ctx context.Context) (client net.Conn, near *net.TCPConn, err error) {
	w.pairing.Lock()
	defer w.pairing.Unlock()
	if client, err = new(net.Dialer).DialContext(ctx, "tcp", w.listener.Addr().String()); err != nil {
		return nil, nil, err
	}
	accepted, err := w.listener.Accept()
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, accepted.(*net.TCPConn), nil
}

func (w *Wire) isRefused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

// Refuse lets no new connection be made until Accept.
func (w *Wire) Refuse() { w.setRefused(true) }

// Accept ends Refuse.
func (w *Wire) Accept() { w.setRefused(false) }

func (w *Wire) setRefused(refused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = refused
}

// Reset ends all connections with a RST at both ends.
func (w *Wire) Reset() { w.each((*link).reset) }

// HalfClose ends what comes from the server with a FIN, in the midst of it;
// what the client sends still gets there.
func (w *Wire) HalfClose() { w.each((*link).halfClose) }

// BlackHole makes whatever is sent on the connections vanish, both ways, for
// ever: no FIN, no RST, no byte.
func (w *Wire) BlackHole() { w.each((*link).blackHole) }

func (w *Wire) each(do func(*link)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.links {
		do(l)
	}
}

// Close ends the proxy and all of its connections.
func (w *Wire) Close() {
	w.Refuse()
	w.listener.Close()
	w.each((*link).close)
	w.serving.Wait()
}
