// Compaction: etcd forgets all versions but the present one.

package ground

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
)

// Compact has etcd forget every version before the present one.
func (g *Ground) Compact(ctx context.Context) error {
	var now struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := g.etcd(ctx, "range", map[string]any{"key": []byte{0}}, &now); err != nil {
		return err
	}
	return g.etcd(ctx, "compaction", map[string]any{"revision": now.Header.Revision, "physical": true}, &now)
}

// etcd asks etcd over its socket, in JSON.
func (g *Ground) etcd(ctx context.Context, what string, body, answer any) error {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(g.dir, "plane", "data", "etcd.sock"))
	}}
	defer transport.CloseIdleConnections()
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://etcd/v3/kv/"+what, bytes.NewReader(b))
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("asking etcd for %s: %w", what, err)
	}
	defer response.Body.Close()
	if b, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("asking etcd for %s: %s: %s", what, response.Status, b)
	}
	return json.Unmarshal(b, answer)
}
