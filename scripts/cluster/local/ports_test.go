// Tests of the choice of a port.

package local

import (
	"errors"
	"net"
	"strings"
	"testing"
)

func TestPortIsBusy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	err = checkFree(port)
	if !errors.Is(err, errPortBusy) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

func TestFreePort(t *testing.T) {
	port, err := choosePort()
	if err != nil || port < lowestPort || port > highestPort {
		t.Errorf("got %d, %v", port, err)
	}
}
