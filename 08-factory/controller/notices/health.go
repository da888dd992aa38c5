// What a kubelet asks.

package notices

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// serveHealth answers two questions until stop is called. /healthz: should this process be killed?
// Yes, if it should have ended because its Lease has expired, and it has not. /readyz: have its
// caches synced? A replica that waits for the Lease is ready.
func (c *controller) serveHealth(ctx context.Context, listener net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if c.lease != nil {
			answer(w, c.lease.watchdog.Check(r))
			return
		}
		answer(w, nil)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !c.synced.Load() {
			answer(w, errors.New("the caches have not synced"))
			return
		}
		answer(w, nil)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			utilruntime.HandleErrorWithContext(ctx, err, "Serving the health failed")
		}
	}()
	return func() {
		server.Close()
		<-ended
	}
}

// answer answers that all is well, or with an error.
func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}
