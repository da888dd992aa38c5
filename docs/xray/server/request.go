// A request for an action, and the errors that answer it.

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/docs/xray/recorder"
)

const maxBodyBytes = 4 << 10

// An actionRequest is the body of a request for an action. Each action uses some of the fields.
type actionRequest struct {
	Action  string
	Name    string         // of an object
	Count   int            // of updates
	Handler string         // its name
	Speed   recorder.Speed // of the handler, or of the loops that pop
	First   string         // the parts to show
	Second  string         // beside them
}

func readActionRequest(body io.Reader) (actionRequest, error) {
	request, err := decodeActionRequest(body)
	switch {
	case err == nil:
		return request, nil
	case errors.As(err, new(*http.MaxBytesError)):
		return actionRequest{}, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes",
			maxBodyBytes)
	default:
		return actionRequest{}, refuse(http.StatusBadRequest, `the body: %v; want JSON such as {"action":"create"}`,
			err)
	}
}

// decodeActionRequest accepts one JSON value without unknown fields, and nothing after it.
func decodeActionRequest(body io.Reader) (request actionRequest, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return request, err
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return request, errors.New("there is more than one value")
	}
	return request, nil
}

// refuse returns an error of the client. It has the type of the errors of the API server.
func refuse(status int32, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: status, Message: fmt.Sprintf(format, args...)}}
}

// statusOf returns the status for an error: 4xx for an error of the client, and 502 for any other,
// which is about the API server.
func statusOf(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		if code := int(status.Status().Code); code >= 400 && code < 500 {
			return code
		}
	}
	return http.StatusBadGateway
}
