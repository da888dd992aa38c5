// The connections to the API server, which a button cuts.

package xray

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// A Connection connects a pair of informers to the API server. It can cut the connections of both,
// and counts the bytes that the server sends to our informer.
type Connection struct {
	Ours     kubernetes.Interface // the client of our informer
	ClientGo kubernetes.Interface // the client of client-go's informer

	open  *connrotation.ConnectionTracker
	isCut atomic.Bool
	bytes atomic.Int64
}

// NewConnection returns a connection to the API server that config names. The caller closes it.
func NewConnection(config *rest.Config) (*Connection, error) {
	c := &Connection{open: connrotation.NewConnectionTracker()}
	dial := config.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	var err error
	c.Ours, err = newClient(config, counted(c.cuttable(dial), &c.bytes))
	if err != nil {
		return nil, err
	}
	c.ClientGo, err = newClient(config, c.cuttable(dial))
	if err != nil {
		return nil, err
	}
	return c, nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func newClient(config *rest.Config, dial dialFunc) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.Dial = dial
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of X-ray: %w", err)
	}
	return client, nil
}

// Close closes all connections.
func (c *Connection) Close() { c.open.CloseAll() }

// cut closes all connections, and makes new ones impossible until restore.
func (c *Connection) cut() {
	c.isCut.Store(true) // first: see cuttable
	c.open.CloseAll()
}

func (c *Connection) restore() { c.isCut.Store(false) }

// errUnreachable is the error of a network without a cable. A reflector that gets it when it
// resumes its watch gives up the watch, and lists when it can.
var errUnreachable = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}

// cuttable returns a dialFunc whose connections cut closes, and which fails while they are cut.
func (c *Connection) cuttable(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if c.isCut.Load() {
			return nil, errUnreachable
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		conn = c.open.Track(conn)
		if c.isCut.Load() { // since the dial began: cut may not have seen this connection
			conn.Close()
			return nil, errUnreachable
		}
		return conn, nil
	}
}

// counted returns a dialFunc that counts the bytes that are read from its connections.
func counted(dial dialFunc, bytes *atomic.Int64) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return countingConn{conn, bytes}, nil
	}
}

// A countingConn counts the bytes that are read from a connection.
type countingConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}
