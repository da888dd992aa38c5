// One connection of a wire: two sockets, and what is carried between them.

package wire

import (
	"net"
	"sync"
	"sync/atomic"
)

// link carries bytes between near, the client's end, and far, the server's.
type link struct {
	near, far *net.TCPConn
	deaf      atomic.Bool // nothing from the server is carried
	mute      atomic.Bool // nothing from the client is carried
	once      sync.Once
	closed    chan struct{}
}

// serve carries bytes both ways until an end hangs up or the link is closed.
func (l *link) serve() {
	var back sync.WaitGroup
	back.Go(func() { l.carry(l.near, l.far, &l.deaf) })
	l.carry(l.far, l.near, &l.mute)
	back.Wait()
}

// carry returns when from has ended, and takes the link along; but where
// nothing is carried, the news of the end is not carried either.
func (l *link) carry(to, from net.Conn, lost *atomic.Bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !lost.Load() {
			if _, err := to.Write(buffer[:n]); err != nil && !lost.Load() {
				l.close()
			}
		}
		if err == nil {
			continue
		}
		if l.deaf.Load() && l.mute.Load() && from == net.Conn(l.far) {
			<-l.closed // the client of a black hole never hears that the server has gone
		}
		l.close()
		return
	}
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.closed)
		l.near.Close()
		l.far.Close()
	})
}

func (l *link) reset() {
	_ = l.near.SetLinger(0) // close sends a RST
	_ = l.far.SetLinger(0)
	l.close()
}

func (l *link) halfClose() {
	l.deaf.Store(true)
	_ = l.near.CloseWrite()
}

func (l *link) blackHole() {
	l.deaf.Store(true)
	l.mute.Store(true)
}
