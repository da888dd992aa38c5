// Compaction: etcd forgets all versions but the present one.

package ground

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
)

// Compact has etcd forget every version before the present one.
func (g *Ground) Compact(ctx context.Context) error {
	answer, err := g.etcd(ctx, "range", `{"key":"AA=="}`)
	if err != nil {
		return err
	}
	var now struct{ Header struct{ Revision string } }
	if err := json.Unmarshal(answer, &now); err != nil {
		return err
	}
	_, err = g.etcd(ctx, "compaction", fmt.Sprintf(`{"revision":%q,"physical":true}`, now.Header.Revision))
	return err
}

// etcd asks etcd over its socket, in JSON.
func (g *Ground) etcd(ctx context.Context, what, body string) ([]byte, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(g.dir, "plane", "data", "etcd.sock"))
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://etcd/v3/kv/"+what, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking etcd for %s: %w", what, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("asking etcd for %s: %s: %s", what, response.Status, answer)
	}
	return answer, err
}
