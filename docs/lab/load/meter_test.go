// The meter of a client: time, CPU, bytes and requests.

package main

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/fault"
)

// A meter measures this process. The zero value is ready for use.
type meter struct {
	requests fault.Requests
	bytes    atomic.Int64
	last     Values // the totals at the last lap
}

// count changes a configuration so that the meter counts the requests of its clients, and the bytes
// that they receive. The bytes include those of HTTP and TLS.
func (m *meter) count(config *rest.Config) {
	config.Wrap(m.requests.Wrap)
	config.Dial = fault.CountBytes(new(net.Dialer).DialContext, &m.bytes)
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
