// Answers that refuse a request.

package httpfault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status is an answer that refuses a request. retryAfter, if not 0, is sent
// along in whole seconds.
func Status(request *http.Request, code int, reason metav1.StatusReason, retryAfter time.Duration) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Request: request,
		Body: io.NopCloser(bytes.NewReader(status(code, reason))),
	}
}

func status(code int, reason metav1.StatusReason) []byte {
	b, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Message: "made up by the fault harness", Reason: reason, Code: int32(code),
	})
	if err != nil {
		panic(err) // a Status can always be encoded
	}
	return b
}

// Refuse answers every request with a status.
func Refuse(code int, reason metav1.StatusReason, retryAfter time.Duration) Rule {
	return func(request *http.Request, _ http.RoundTripper) (*http.Response, error) {
		return Status(request, code, reason, retryAfter), nil
	}
}
