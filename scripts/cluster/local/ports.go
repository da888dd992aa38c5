// A free port on loopback for the API server.

package local

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The port is chosen below those that systems hand to outgoing connections
// (from 32768 on Linux, 49152 on macOS). Among those, a client that keeps
// dialing a dead API server ends up connected to itself sooner or later, and
// the API server can never come back on its port.
const lowestPort, highestPort = 20000, 32000

func choosePort() (int, error) {
	var err error
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if err = checkFree(port); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d; the last one tried: %w", lowestPort, highestPort, err)
}

// checkFree returns an error if the API server could not listen on port.
func checkFree(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("kube-apiserver cannot use 127.0.0.1:%d: %w (%w)", port, errPortBusy, err)
	}
	return l.Close()
}
