// The line to the API server: a cable that can be pulled out, and a meter on it.

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

// A Line is the way from two clients to the API server: one for our informer, one
// for client-go's. What comes for the first is counted.
type Line struct {
	Client, Theirs kubernetes.Interface

	proxy *netfault.Proxy
	bytes atomic.Int64
	cut   atomic.Bool
}

// NewLine makes a line to the API server that config names. Close ends it.
func NewLine(config *rest.Config) (*Line, error) {
	proxy, err := netfault.For(config)
	if err != nil {
		return nil, err
	}
	l := &Line{proxy: proxy}
	ours, theirs := rest.CopyConfig(config), rest.CopyConfig(config)
	ours.Dial, theirs.Dial = l.dial, proxy.Dial
	if l.Client, err = kubernetes.NewForConfig(ours); err == nil {
		l.Theirs, err = kubernetes.NewForConfig(theirs)
	}
	if err != nil {
		return nil, fmt.Errorf("making a client that goes through the proxy: %w", err)
	}
	return l, nil
}

// Close ends the line and its connections.
func (l *Line) Close() { l.proxy.Close() }

func (l *Line) pull() {
	l.cut.Store(true)
	l.proxy.Pull()
}

func (l *Line) restore() {
	l.proxy.Restore()
	l.cut.Store(false)
}

func (l *Line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.proxy.Dial(ctx, network, address)
	return metered{conn, &l.bytes}, err
}

// metered counts what is read from a connection.
type metered struct {
	net.Conn
	bytes *atomic.Int64
}

func (m metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.bytes.Add(int64(n))
	return n, err
}
