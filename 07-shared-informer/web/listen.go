// The port: how it is opened, and what is said when it cannot be.

package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

func listen(ctx context.Context, addr string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return nil, fmt.Errorf("listening on %q: this is no host and port: choose one with -addr, such as -addr %s", addr, DefaultAddr)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listening on %s: the port is in use: end the program that listens there, or choose another one with -addr, such as -addr 127.0.0.1:0 for any that is free", addr)
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w: choose another address with -addr, such as -addr %s", addr, cause(err), DefaultAddr)
	}
	return listener, nil
}

// cause leaves out what net's errors say of the address: it has been said.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
