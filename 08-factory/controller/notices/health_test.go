package notices

import (
	"errors"
	"net"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"

	"example.com/informer/scripts/harness/must"
)

// A controller is ready when its caches have synced, whether it holds the Lease or not. It is
// healthy from the beginning.
func TestHealth(t *testing.T) {
	for _, test := range []struct {
		name  string
		lease *lease
	}{
		{name: "one replica"},
		{
			name:  "a replica without the Lease",
			lease: &lease{watchdog: leaderelection.NewLeaderHealthzAdaptor(leaseDuration)},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			must.NoError(t, err)
			c := &controller{lease: test.lease}
			defer c.serveHealth(t.Context(), listener)()
			for _, synced := range []bool{false, true} {
				c.synced.Store(synced)
				ready := http.StatusServiceUnavailable
				if synced {
					ready = http.StatusOK
				}
				wantAnswer(t, listener, "/healthz", http.StatusOK)
				wantAnswer(t, listener, "/readyz", ready)
			}
			wantAnswer(t, listener, "/", http.StatusNotFound)
		})
	}
}

// Run closes the listener, even if it cannot begin.
func TestRunClosesTheListener(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.NoError(t, err)
	config := &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "no such file"}}
	if err := Run(t.Context(), config, "ns", Options{Health: listener}); err == nil {
		t.Error("Run returns no error for a config with which it cannot make a client")
	}
	if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closing the listener after Run returns %v, want that it was closed already", err)
	}
}

func wantAnswer(t *testing.T, listener net.Listener, path string, want int) {
	t.Helper()
	url := "http://" + listener.Addr().String() + path
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must.NoError(t, err)
	request.Close = true // leaves no connection behind
	response, err := http.DefaultClient.Do(request)
	must.NoError(t, err)
	defer response.Body.Close()
	if response.StatusCode != want {
		t.Errorf("%s answers %s, want %d", path, response.Status, want)
	}
}
