// The meter of a client: time, CPU, bytes and requests.

package main

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/requests"
)

// A meter measures this process. The zero value is ready for use.
type meter struct {
	requests requests.Counter
	bytes    atomic.Int64
	last     Values // the totals at the last lap
}

// count changes a configuration so that the meter counts the requests of its clients, and the bytes
// that they receive. The bytes include those of HTTP and TLS.
func (m *meter) count(config *rest.Config) {
	m.requests.Count(config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &countedConn{conn, &m.bytes}, err
	}
}

// A countedConn counts the bytes that it reads.
type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// lap returns the values since the last lap, and begins a new one.
func (m *meter) lap() Values {
	cpu := resources() // of all cores, in the program and in the kernel
	now := Values{
		"ns/op":      float64(time.Since(started)),
		"cpu-ns":     float64(cpu.Utime.Nano() + cpu.Stime.Nano()),
		"received-B": float64(m.bytes.Load()),
		"requests":   float64(m.requests.Lists() + m.requests.Watches()),
	}
	used := Values{}
	for unit := range now {
		used[unit] = now[unit] - m.last[unit]
	}
	m.last = now
	return used
}

var started = time.Now()

// resources returns the resources that this process has used.
func resources() (used syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it fails only for wrong arguments
	return used
}
