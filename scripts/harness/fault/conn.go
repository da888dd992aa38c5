package fault

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// A conn copies bytes between the client's socket and the server's.
type conn struct{ client, server end }

type end struct {
	socket *net.TCPConn
	lost   atomic.Bool // bytes that are written to the socket are lost on the way
}

// Write implements io.Writer.
func (e *end) Write(b []byte) (int, error) {
	if e.lost.Load() {
		return len(b), nil
	}
	n, err := e.socket.Write(b)
	if e.lost.Load() { // since the write began; its error does not count
		return len(b), nil
	}
	return n, err
}

// serve copies bytes in both directions until both ends have closed their direction, one of them
// breaks, or the connection is closed.
func (c *conn) serve() {
	var responses sync.WaitGroup
	responses.Go(func() { c.forward(&c.client, &c.server) })
	c.forward(&c.server, &c.client)
	responses.Wait()
	c.close()
}

// forward copies the bytes of one end to the other, and then its FIN: an end that has sent its FIN
// can still receive. In a black hole, the FIN of the server gets lost, and the FIN of the client
// ends the connection.
func (c *conn) forward(dst, src *end) {
	_, err := io.Copy(dst, src.socket)
	blackHole := c.server.lost.Load()
	switch {
	case blackHole && src == &c.server:
	case blackHole, err != nil:
		c.close()
	default:
		_ = dst.socket.CloseWrite()
	}
}

func (c *conn) close() {
	_ = c.client.socket.Close()
	_ = c.server.socket.Close()
}
