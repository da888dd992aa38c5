package survival

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A rule says what becomes of requests of the controller.
type rule struct {
	matches func(*request) bool
	left    int   // how many more requests it takes; -1: all
	status  int   // the status that it answers with, unless it has a hold
	hold    *hold // holds the request up, and then lets the API server answer
}

// refuse lets the API server seem to refuse the next n requests that match, or all if n is -1.
// remove removes the rule, and returns how many requests were still to be refused.
func (w *wire) refuse(n, status int, matches func(*request) bool) (remove func() int) {
	return w.add(&rule{matches: matches, left: n, status: status})
}

// hold holds up the next request that matches.
func (w *wire) hold(matches func(*request) bool) *hold { return w.holdN(1, matches) }

// holdN holds up the next n requests that match, or all if n is -1.
func (w *wire) holdN(n int, matches func(*request) bool) *hold {
	h := &hold{reached: make(chan struct{}), released: make(chan struct{})}
	h.remove = w.add(&rule{matches: matches, left: n, hold: h})
	return h
}

func (w *wire) add(added *rule) (remove func() int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = append(w.rules, added)
	return func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.rules = slices.DeleteFunc(w.rules, func(r *rule) bool { return r == added })
		return added.left
	}
}

// A hold holds up requests until they are released.
type hold struct {
	reached  chan struct{} // closed when it holds up a request
	released chan struct{}
	remove   func() int

	reachOnce, releaseOnce sync.Once
}

// wait waits until the request is released, or until the controller gives it up.
func (h *hold) wait(ctx context.Context) error {
	h.reachOnce.Do(func() { close(h.reached) })
	select {
	case <-h.released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release lets the requests continue, and holds up no others.
func (h *hold) release() {
	h.remove()
	h.releaseOnce.Do(func() { close(h.released) })
}

// refusal is an answer of the API server with an error.
func refusal(httpRequest *http.Request, status int) (*http.Response, error) {
	if httpRequest.Body != nil {
		httpRequest.Body.Close()
	}
	reasons := map[int]metav1.StatusReason{
		http.StatusConflict:            metav1.StatusReasonConflict,
		http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
		http.StatusGone:                metav1.StatusReasonExpired,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Reason:   reasons[status],
		Code:     int32(status),
		Message:  "the survival test has refused this request",
	})
	return &http.Response{
		StatusCode: status,
		Request:    httpRequest,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
	}, err
}
