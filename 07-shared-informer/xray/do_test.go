// Requests for an action that are refused, and too many of them.

package xray

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/expect"
)

// post sends an order to the engine.
func (r rig) post(header map[string]string, body string) (int, string) {
	request := httptest.NewRequest("POST", "/xray/do", strings.NewReader(body))
	request.Header.Set("X-Xray-Token", r.view.Token)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	engine(r.XRay).ServeHTTP(answer, request)
	return answer.Code, answer.Body.String()
}

func TestWhatIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for _, test := range []struct {
			header map[string]string
			body   string
			want   string
		}{
			{map[string]string{"X-Xray-Token": ""}, `{"action":"create"}`, "403 load the page again"},
			{map[string]string{"X-Xray-Token": r.view.Token[1:]}, `{"action":"create"}`, "403 load the page again"},
			{map[string]string{"Content-Type": "text/plain"}, `{"action":"create"}`, "415 want application/json"},
			{map[string]string{"Content-Type": ""}, `{"action":"create"}`, "415 want application/json"},
			{nil, `{"action":"create","namespace":"kube-system"}`, `400 unknown field \"namespace\"`},
			{nil, `{"action":"create"} {"action":"create"}`, "400 the body"},
			{nil, `{"action":"create"`, "400 the body"},
			{nil, `[]`, "400 the body"},
			{nil, ``, "400 the body"},
			{nil, `{"action":"format"}`, `400 there is no action \"format\" (known: [\"add\"`},
			{nil, `{"name":"` + strings.Repeat("x", maxBody) + `"}`, "413 more than 4096 bytes"},
			{nil, `{"action":"delete","name":"nobody"}`, "404 in the store"},
		} {
			time.Sleep(time.Second) // or the limit is reached
			status, body := r.post(test.header, test.body)
			if fmt.Sprint(status) != test.want[:3] || !strings.Contains(body, test.want[4:]) ||
				!strings.HasPrefix(body, `{"error":"`) {
				t.Errorf("%v %.50s: got %d %s\nwant %s", test.header, test.body, status, body, test.want)
			}
		}
		expect.That(t, len(r.keys()) == 0, "something was created: %q", r.keys())
		status, body := r.post(nil, `{"action":"create"}`)
		expect.That(t, status == 200 && strings.Contains(body, `{"done":"`), "%d %s", status, body)
	})
}

func TestTooManyActions(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		accepted := func() (n int) {
			for range 40 {
				if status, _ := r.post(nil, `{"action":"restore"}`); status == 200 {
					n++
				} else if status != http.StatusTooManyRequests {
					t.Errorf("status %d", status)
				}
			}
			return n
		}
		first := accepted()
		time.Sleep(time.Second)
		second := accepted()
		expect.That(t, first == 20 && second == 10, "%d at once, %d a second later; want 20 and 10", first, second)
	})
}
