// A client, seen from outside.

package main

import (
	"context"
	"fmt"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
)

// A process is that of one Client.
type process struct {
	name string
	cmd  *exec.Cmd
	rpc  *rpc.Client
}

// startProcess starts this same program as a client. Close ends it; so does the
// end of ctx, and that of this program.
func startProcess(ctx context.Context, name string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: exec.CommandContext(ctx, program)}
	p.cmd.Env = append(os.Environ(), environment+"=1")
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s in a process of its own: %w", name, err)
	}
	p.rpc = jsonrpc.NewClient(pipes{out, in})
	return p, nil
}

// call asks for a method of the Client.
func (p *process) call(method string, args any) (measured Values, err error) {
	if err := p.rpc.Call("Client."+method, args, &measured); err != nil {
		return nil, fmt.Errorf("the process of %s: %s: %w", p.name, method, err)
	}
	return measured, nil
}

// Close ends the process.
func (p *process) Close() error {
	_ = p.rpc.Close() // its standard input, which ends it
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the process of %s: %w", p.name, err)
	}
	return nil
}
