// The process of a client.

package main

import (
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// clientEnv is set in the environment of a process that is a client.
const clientEnv = "INFORMER_LOAD_CLIENT"

// serveClient is the main function of a process that is a client. The client serves calls on its
// standard input, and ends when the input ends. In other processes serveClient returns immediately.
func serveClient() {
	if os.Getenv(clientEnv) == "" {
		return
	}
	_ = rpc.Register(new(Client)) // it fails only for methods without the form of net/rpc
	rpc.ServeConn(pipes{os.Stdin, os.Stdout})
	os.Exit(0)
}

// pipes are a connection to a process, over its standard input and output.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// A process is the process of a Client.
type process struct {
	name  string
	rpc   *rpc.Client
	close func()
}

// startProcess starts this program again, as a client. The process ends when it is closed, at the
// end of the benchmark, or when this program ends.
func startProcess(tb testing.TB, name string) *process {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must.NoError(tb, err)
	out, err := cmd.StdoutPipe()
	must.NoError(tb, err)
	if err := cmd.Start(); err != nil {
		tb.Fatalf("starting %s in a process of its own: %v", name, err)
	}
	p := &process{name: name, rpc: rpc.NewClient(pipes{out, in})}
	p.close = sync.OnceFunc(func() {
		_ = p.rpc.Close() // this closes the standard input of the process, which ends then
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the process of %s: %v", name, err)
		}
	})
	tb.Cleanup(p.close)
	return p
}

// call calls a method of the Client.
func (p *process) call(tb testing.TB, method string, args any) (measured Values) {
	tb.Helper()
	if err := p.rpc.Call("Client."+method, args, &measured); err != nil {
		tb.Fatalf("the process of %s: %s: %v", p.name, method, err)
	}
	return measured
}

// report calls a method of the Client, and reports the values as the result of a benchmark.
func (p *process) report(b *testing.B, name, method string, args any) {
	p.call(b, method, args).report(b, name+"/informer="+p.name)
}
