// The process under load: one factory with its informer and its handlers.

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/usage"
)

// environment makes this program a client, if it is set.
const environment = "INFORMER_LOAD_CLIENT"

// serveClient is the whole of a process that is a client: it does what it is
// asked for on its standard input, and ends when that ends. In any other process
// it returns at once.
func serveClient() {
	if os.Getenv(environment) == "" {
		return
	}
	_ = rpc.Register(new(Client)) // it fails for methods of another form only
	rpc.ServeConn(pipes{os.Stdin, os.Stdout})
	os.Exit(0)
}

// pipes are a connection to a process.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// A process is that of one Client, seen from outside.
type process struct {
	name  string
	rpc   *rpc.Client
	close func()
}

// startProcess starts this same program as a client. It ends with the benchmark, if
// it is not closed before, and with this program.
func startProcess(tb testing.TB, name string) *process {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), environment+"=1")
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	for _, err := range []error{inErr, outErr, cmd.Start()} {
		if err != nil {
			tb.Fatalf("starting %s in a process of its own: %v", name, err)
		}
	}
	p := &process{name: name, rpc: rpc.NewClient(pipes{out, in})}
	p.close = sync.OnceFunc(func() {
		_ = p.rpc.Close() // its standard input, which ends it
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the process of %s: %v", name, err)
		}
	})
	tb.Cleanup(p.close)
	return p
}

// call asks for a method of the Client.
func (p *process) call(tb testing.TB, method string, args any) (measured Values) {
	tb.Helper()
	if err := p.rpc.Call("Client."+method, args, &measured); err != nil {
		tb.Fatalf("the process of %s: %s: %v", p.name, method, err)
	}
	return measured
}

// report makes what a method of the Client measures a result.
func (p *process) report(b *testing.B, name, method string, args any) {
	p.call(b, method, args).report(b, name+"/informer="+p.name)
}

// patience is for what takes seconds at most, unless it never comes.
const patience = 2 * time.Minute

// A Client is a factory with what measures it. Its methods are what it can be
// asked for, in the form of net/rpc.
type Client struct {
	handlers handlers
	meter    meter
	before   int // the heap before anything was started
	events   int // until the last Slice
}

// Settings of a Client.
type Settings struct {
	Factory    string // report.Ours or report.Theirs
	Kubeconfig string
	Objects    int
}

// Values are what was measured, by unit, as in the results of a benchmark.
type Values map[string]float64

// Sync starts the factory, and measures from then until all handlers have synced.
// Neither factory has options that the other lacks.
func (c *Client) Sync(s Settings, measured *Values) error {
	for range handlerCount {
		c.handlers = append(c.handlers, &handler{versions: make([]uint64, s.Objects)})
	}
	c.before = usage.Heap()
	c.meter.read()
	client, err := connect(s.Kubeconfig, c.meter.count)
	if err != nil {
		return err
	}
	var informer cache.SharedIndexInformer
	var start func(context.Context)
	if s.Factory == report.Ours {
		ours := factory.New(client, factory.Options{Namespace: namespace})
		informer, start = ours.ConfigMaps().Informer(), ours.Start
	} else {
		theirs := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		informer, start = theirs.Core().V1().ConfigMaps().Informer(), theirs.StartWithContext
	}
	var synced []cache.DoneChecker
	for _, h := range c.handlers {
		registration, err := informer.AddEventHandler(h)
		if err != nil {
			return err
		}
		synced = append(synced, registration.HasSyncedChecker())
	}
	start(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !cache.WaitFor(ctx, "", synced...) {
		return fmt.Errorf("the handlers have not synced after %v", patience)
	}
	*measured = c.meter.read()
	return nil
}

// Memory measures how much is held, without what was there before the factory,
// and how much was resident at most, ever. On Linux that is not taken from
// getrusage, where a process begins with what its parent held when it was started.
func (c *Client) Memory(_ int, measured *Values) error {
	peak := float64(resources().Maxrss)
	if self, err := procfs.Self(); err == nil {
		status, err := self.NewStatus()
		if err != nil {
			return fmt.Errorf("reading the most memory that was resident: %w", err)
		}
		peak = float64(status.VmHWM)
	}
	*measured = Values{"heap-B": float64(usage.Heap() - c.before), "peak-B": peak}
	return nil
}

// Slice measures what has happened since Sync or the last Slice.
func (c *Client) Slice(_ int, measured *Values) error {
	v, lags := c.meter.read(), c.handlers.lags()
	c.events += len(lags)
	v["events"] = float64(len(lags))
	if last := len(lags) - 1; last >= 0 {
		v["p50-ns"], v["p99-ns"] = float64(lags[last*50/100]), float64(lags[last*99/100])
	}
	*measured = v
	return nil
}

// Check waits until all handlers have seen these versions of all objects, or too
// long. It returns how many objects a handler has not seen the last state of, all
// handlers together.
func (c *Client) Check(versions []uint64, measured *Values) error {
	_ = wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return c.handlers.missing(versions) == 0, nil })
	c.events += len(c.handlers.lags())
	*measured = Values{"events": float64(c.events), "lost": float64(c.handlers.missing(versions))}
	return nil
}

// A meter measures this process. The zero value is ready for use.
type meter struct {
	requests requests.Counter
	bytes    atomic.Int64
	last     Values // what it had come to at the last reading
}

// count changes a configuration so that its clients are counted: requests as
// they are made, bytes as they arrive, with all that wraps them.
func (m *meter) count(config *rest.Config) {
	m.requests.Count(config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &countedConn{conn, &m.bytes}, err
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
	cpu := resources() // on any core, in the kernel too
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

func resources() (used syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it fails for wrong arguments only
	return used
}
