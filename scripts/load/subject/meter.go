// What a process has used.

package subject

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/03-reflector/requests"
)

// A meter measures this process. The zero value is ready for use.
type meter struct {
	requests requests.Counter
	bytes    atomic.Int64

	// What it has come to at the last reading.
	at   time.Time
	cpu  time.Duration
	sum  int64 // bytes
	made int   // requests
}

// count changes a configuration so that its clients are counted: requests as
// they are made, bytes as they arrive, with all that wraps them.
func (m *meter) count(config *rest.Config) {
	m.requests.Count(config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{conn, &m.bytes}, nil
	}
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// read returns what was used since the last reading.
func (m *meter) read() (r Report) {
	now, cpu, sum, made := time.Now(), usedCPU(), m.bytes.Load(), m.requests.Lists()+m.requests.Watches()
	r = Report{Elapsed: now.Sub(m.at), CPU: cpu - m.cpu, Bytes: int(sum - m.sum), Requests: made - m.made}
	m.at, m.cpu, m.sum, m.made = now, cpu, sum, made
	return r
}

// usedCPU is all that this process has used on any core, in the kernel too.
func usedCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails for wrong arguments only
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// liveHeap collects garbage and returns what is left.
func liveHeap() int {
	runtime.GC()
	runtime.GC() // what a sync.Pool holds goes with the second one
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
