package fault

import (
	"context"
	"net"
	"sync/atomic"
)

// A DialFunc makes a connection, as the Dial of a rest.Config does.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// CountBytes returns a DialFunc whose connections add the number of bytes that they read to n. With
// TLS, these are the encrypted bytes.
func CountBytes(dial DialFunc, n *atomic.Int64) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		made, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return countedConn{made, n}, nil
	}
}

type countedConn struct {
	net.Conn
	n *atomic.Int64
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}
