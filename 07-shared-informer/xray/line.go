// The connection to the API server, which a button cuts.

package xray

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/netfault"
)

// A Line connects both informers to the API server, through a proxy that can cut their connections.
// It counts the bytes that the server sends to our informer.
type Line struct {
	Client kubernetes.Interface // for our informer
	Theirs kubernetes.Interface // for client-go's informer

	proxy *netfault.Proxy
	bytes atomic.Int64
	cut   atomic.Bool
}

// NewLine returns a line to the API server that config names. The caller closes it.
func NewLine(config *rest.Config) (*Line, error) {
	proxy, err := netfault.For(config)
	if err != nil {
		return nil, err
	}
	l := &Line{proxy: proxy}
	if l.Client, err = newClient(config, l.dial); err != nil {
		return nil, err
	}
	if l.Theirs, err = newClient(config, proxy.Dial); err != nil {
		return nil, err
	}
	return l, nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func newClient(config *rest.Config, dial dialFunc) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.Dial = dial
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client that goes through the proxy: %w", err)
	}
	return client, nil
}

// Close ends all connections.
func (l *Line) Close() { l.proxy.Close() }

func (l *Line) pull() {
	l.cut.Store(true)
	l.proxy.Pull()
}

func (l *Line) restore() {
	l.proxy.Restore()
	l.cut.Store(false)
}

// dial makes a connection whose bytes count.
func (l *Line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.proxy.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return countingConn{conn, &l.bytes}, nil
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
