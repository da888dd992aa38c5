// Compaction: etcd forgets all versions but the present one.

package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Compact makes etcd forget every version before the present one.
func (e *Environment) Compact(ctx context.Context) error {
	answer, err := e.etcd(ctx, "range", `{"key":"AA=="}`)
	if err != nil {
		return err
	}
	var now struct{ Header struct{ Revision string } }
	if err := json.Unmarshal(answer, &now); err != nil {
		return err
	}
	_, err = e.etcd(ctx, "compaction", fmt.Sprintf(`{"revision":%q,"physical":true}`, now.Header.Revision))
	return err
}

// etcd asks etcd, in JSON.
func (e *Environment) etcd(ctx context.Context, method, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.ControlPlane.EtcdURL()+"/v3/kv/"+method,
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Close = true // no connection is to stay
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking etcd for %s: %w", method, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("asking etcd for %s: %s: %s", method, response.Status, answer)
	}
	return answer, err
}
