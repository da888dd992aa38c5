// One connection of a proxy: two sockets, and what is carried between them.

package netfault

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

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

func (c *conn) reset() {
	_ = c.client.socket.SetLinger(0) // close sends a RST
	_ = c.server.socket.SetLinger(0)
	c.close()
}

func (c *conn) halfClose() {
	c.client.lost.Store(true)
	_ = c.client.socket.CloseWrite()
}

func (c *conn) blackHole() {
	c.client.lost.Store(true)
	c.server.lost.Store(true)
}
