// The connections to an API server, which are cut and restored.

package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
)

func TestAConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"gitVersion":"v1"}`)
	}))
	defer server.Close()
	c, err := NewConnection(&rest.Config{Host: server.URL})
	must.NoError(t, err)
	defer c.Close()
	ask := func(client kubernetes.Interface) error {
		_, err := client.Discovery().ServerVersion()
		return err
	}

	must.NoError(t, ask(c.ClientGo))
	if got := c.bytes.Load(); got != 0 {
		t.Errorf("after a request of client-go's informer, %d bytes are counted, want 0", got)
	}
	must.NoError(t, ask(c.Ours))
	if got := c.bytes.Load(); got == 0 {
		t.Error("after a request of our informer, no bytes are counted")
	}

	clients := map[string]kubernetes.Interface{"Ours": c.Ours, "ClientGo": c.ClientGo}
	c.cut()
	for name, client := range clients {
		if err := ask(client); err == nil {
			t.Errorf("%s: no error while the connections are cut", name)
		}
	}
	c.restore()
	for name, client := range clients {
		if err := ask(client); err != nil {
			t.Errorf("%s: after a restore: %v", name, err)
		}
	}
}
