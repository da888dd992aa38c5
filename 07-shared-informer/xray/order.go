// An order: what a request asks for, and all that is wrong with some.

package xray

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const maxBody = 4 << 10

// An order is the body of a request for an action.
type order struct {
	Action  string `json:"action"`
	Name    string `json:"name"`    // of an object; empty: the one that changed last
	Count   int    `json:"count"`   // of updates
	Handler string `json:"handler"` // its name
	Pace    string `json:"pace"`
}

func readOrder(body io.Reader) (o order, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&o); err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return o, nil
		}
		if err == nil {
			err = errors.New("there is more than one value")
		}
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		return o, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
	}
	return o, refuse(http.StatusBadRequest, `the body: %w; want JSON such as {"action":"create"}`, err)
}

// A refusal is an error that is the client's, with the status for it.
type refusal struct {
	status int
	error
}

func refuse(status int, format string, args ...any) error {
	return refusal{status, fmt.Errorf(format, args...)}
}

// statusOf tells the errors of the client from those of the API server and the rest.
func statusOf(err error) int {
	var refused refusal
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &refused):
		return refused.status
	case errors.As(err, &status) && status.Status().Code >= 400 && status.Status().Code < 500:
		return int(status.Status().Code)
	case errors.As(err, &status):
		return http.StatusBadGateway
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable // all is about to end
	}
	return http.StatusInternalServerError
}
