// The process under load: one factory with its informer and its handlers.

package main

import (
	"context"
	"fmt"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

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
	if err := rpc.Register(new(Client)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	jsonrpc.ServeConn(pipes{os.Stdin, os.Stdout})
	os.Exit(0)
}

// pipes are a connection to a process.
type pipes struct {
	io.Reader
	io.WriteCloser
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
	Factory           string // report.Ours or report.Theirs
	Kubeconfig        string
	Objects, Handlers int
}

// Values are what was measured, by unit, as in the results of a benchmark.
type Values map[string]float64

// Sync starts the factory, and measures from then until all handlers have synced.
func (c *Client) Sync(s Settings, measured *Values) error {
	for range s.Handlers {
		c.handlers = append(c.handlers, newHandler(s.Objects))
	}
	c.before = usage.Heap()
	c.meter.read()
	client, err := connect(s.Kubeconfig, c.meter.count)
	if err != nil {
		return err
	}
	synced, err := startFactory(context.Background(), s.Factory, client, c.handlers)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !cache.WaitFor(ctx, "", synced...) {
		return fmt.Errorf("the handlers have not synced after %v", patience)
	}
	*measured = c.meter.read()
	return nil
}

// Memory measures how much is held, without what was there before the factory,
// and how much was resident at most, ever.
func (c *Client) Memory(_ int, measured *Values) error {
	peak, err := peakMemory()
	*measured = Values{"heap-B": float64(usage.Heap() - c.before), "peak-B": float64(peak)}
	return err
}

// Slice measures what has happened since Sync or the last Slice.
func (c *Client) Slice(_ int, measured *Values) error {
	v := c.meter.read()
	lags := c.handlers.lags()
	c.events += len(lags)
	v["events"] = float64(len(lags))
	v["p50-ns"], v["p99-ns"] = percentile(lags, 50), percentile(lags, 99)
	*measured = v
	return nil
}

func percentile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[(len(sorted)-1)*percent/100])
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
