// The connections to the API server, which a button cuts.

package server

import (
	"errors"
	"fmt"
	"sync/atomic"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/fault"
)

// A Connection connects a pair of informers to the API server. It can cut the connections of both,
// and counts the bytes that the server sends to our informer.
type Connection struct {
	Ours     kubernetes.Interface // the client of our informer
	ClientGo kubernetes.Interface // the client of client-go's informer

	proxy *fault.Proxy
	isCut atomic.Bool
	bytes atomic.Int64
}

// NewConnection returns a connection to the API server that config names. The caller closes it.
func NewConnection(config *rest.Config) (*Connection, error) {
	proxy, err := fault.For(config)
	if err != nil {
		return nil, err
	}
	c := &Connection{proxy: proxy}
	client := func(dial fault.DialFunc) (kubernetes.Interface, error) {
		config := rest.CopyConfig(config)
		config.Dial = dial
		return kubernetes.NewForConfig(config)
	}
	ours, err := client(fault.CountBytes(proxy.Dial, &c.bytes))
	theirs, theirErr := client(proxy.Dial)
	if err := errors.Join(err, theirErr); err != nil {
		return nil, fmt.Errorf("making a client of X-ray: %w", err)
	}
	c.Ours, c.ClientGo = ours, theirs
	return c, nil
}

// Close closes all connections.
func (c *Connection) Close() { c.proxy.Close() }

// cut closes all connections, and makes new ones impossible until restore. A reflector that cannot
// connect when it resumes its watch gives up the watch, and lists when it can.
func (c *Connection) cut() {
	c.isCut.Store(true)
	c.proxy.Pull()
}

func (c *Connection) restore() {
	c.proxy.Restore()
	c.isCut.Store(false)
}
