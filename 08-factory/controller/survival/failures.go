package survival

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// failWrites lets writes of the controller fail, as many as r.failures and r.conflicts say. Writes
// of Events never fail.
func (r *runner) failWrites(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		update := request.Method == http.MethodPut || request.Method == http.MethodPatch
		switch {
		case request.Method == http.MethodGet || strings.Contains(request.URL.Path, "/events"):
			return next.RoundTrip(request)
		case strings.Contains(request.URL.Path, "/configmaps") && takeOne(&r.failures):
			return nil, errors.New("this write was made to fail")
		case update && takeOne(&r.conflicts):
			return conflict(request)
		default:
			return next.RoundTrip(request)
		}
	})
}

// takeOne takes one from a counter, if there is one left.
func takeOne(counter *atomic.Int32) bool { return counter.Add(-1) >= 0 }

// conflict is the API server's answer to an update of an old version.
func conflict(request *http.Request) (*http.Response, error) {
	status := apierrors.NewConflict(corev1.Resource("configmaps"), path.Base(request.URL.Path),
		errors.New("this update was made to end with a conflict")).Status()
	status.APIVersion, status.Kind = "v1", "Status"
	body, err := json.Marshal(status)
	return &http.Response{
		StatusCode: http.StatusConflict,
		Request:    request,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
	}, err
}

// A roundTripper is an http.RoundTripper that is one function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
