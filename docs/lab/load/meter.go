// What a process has used.

package main

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/requests"
)

// A meter measures this process. The zero value is ready for use.
type meter struct {
	requests requests.Counter
	bytes    atomic.Int64

	last Values // what it had come to at the last reading
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
func (m *meter) read() Values {
	now := Values{
		"ns/op":      float64(time.Since(started)),
		"cpu-ns":     float64(usedCPU()),
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

// usedCPU is all that this process has used on any core, in the kernel too.
func usedCPU() time.Duration {
	usage := rusage()
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func rusage() (usage syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails for wrong arguments only
	}
	return usage
}

// peakMemory is the most that was resident, in bytes. On Linux it is not taken
// from getrusage, where a process begins with what its parent held when it was
// started.
func peakMemory() (int, error) {
	if runtime.GOOS != "linux" {
		return int(rusage().Maxrss), nil
	}
	self, err := procfs.Self()
	if err != nil {
		return 0, err
	}
	status, err := self.NewStatus()
	if err != nil {
		return 0, fmt.Errorf("reading the most memory that was resident: %w", err)
	}
	return int(status.VmHWM), nil
}

// cores is for how many seconds all cores were there so far, and in use; both
// are 0 where there is no /proc.
func cores() (all, used float64) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0, 0
	}
	cpu := stat.CPUTotal // User holds what guests had
	used = cpu.User + cpu.Nice + cpu.System + cpu.IRQ + cpu.SoftIRQ + cpu.Steal
	return used + cpu.Idle + cpu.Iowait, used
}
