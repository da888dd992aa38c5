// Requests for an action that are refused, and too many of them.

package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// post sends a request for an action, with the token of the page.
func (f fixture) post(header map[string]string, body string) (status int, answer string) {
	request := httptest.NewRequest("POST", "/xray/do", strings.NewReader(body))
	request.Header.Set("X-Xray-Token", f.view.Token)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response := httptest.NewRecorder()
	engine(f.XRay).ServeHTTP(response, request)
	return response.Code, response.Body.String()
}

func TestWhatIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		const create = `{"action":"create"}`
		for _, test := range []struct {
			header map[string]string
			body   string
			status int
			want   string
		}{
			{header: map[string]string{"X-Xray-Token": ""}, body: create, status: 403, want: "load the page again"},
			{header: map[string]string{"X-Xray-Token": f.view.Token[1:]}, body: create,
				status: 403, want: "load the page again"},
			{header: map[string]string{"Content-Type": "text/plain"}, body: create,
				status: 415, want: "want application/json"},
			{header: map[string]string{"Content-Type": ""}, body: create, status: 415, want: "want application/json"},
			{body: `{"action":"create","namespace":"kube-system"}`, status: 400, want: `unknown field \"namespace\"`},
			{body: create + " " + create, status: 400, want: "the body"},
			{body: `{"action":"create"`, status: 400, want: "the body"},
			{body: `[]`, status: 400, want: "the body"},
			{body: ``, status: 400, want: "the body"},
			{body: `{"action":"format"}`, status: 400, want: `there is no action \"format\" (known: [\"add\"`},
			{body: `{"name":"` + strings.Repeat("x", maxBodyBytes) + `"}`, status: 413, want: "more than 4096 bytes"},
			{body: `{"action":"delete","name":"nobody"}`, status: 404, want: "in the store"},
		} {
			time.Sleep(time.Second) // so that the limit of actions is not reached
			status, answer := f.post(test.header, test.body)
			if status != test.status || !strings.Contains(answer, test.want) {
				t.Errorf("header %v, body %.50s: got %d %s, want %d and %s in it", test.header, test.body, status,
					answer, test.status, test.want)
			}
			if want := `{"error":"`; !strings.HasPrefix(answer, want) {
				t.Errorf("header %v, body %.50s: got %s, want %s at its start", test.header, test.body, answer, want)
			}
		}
		f.wantKeys() // nothing was created
		if status, answer := f.post(nil, create); status != 200 || !strings.Contains(answer, `{"done":"`) {
			t.Errorf(`create: got %d %s, want 200 {"done":"…"}`, status, answer)
		}
	})
}

func TestTooManyActions(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		postMany := func() (accepted int) {
			for range 40 {
				switch status, answer := f.post(nil, `{"action":"restore"}`); status {
				case http.StatusOK:
					accepted++
				case http.StatusTooManyRequests:
				default:
					t.Errorf("got %d %s, want 200 or 429", status, answer)
				}
			}
			return accepted
		}
		if got := postMany(); got != actionBurst {
			t.Errorf("%d actions are accepted at the same time, want %d", got, actionBurst)
		}
		time.Sleep(time.Second)
		if got := postMany(); got != actionsPerSecond {
			t.Errorf("%d actions are accepted a second later, want %d", got, actionsPerSecond)
		}
	})
}
