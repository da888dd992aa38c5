// An order: what a request asks for, and all that is wrong with some.

package xray

import (
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
	Action  string
	Name    string // of an object; empty: the one that changed last
	Count   int    // of updates
	Handler string // its name
	Pace    string
}

func readOrder(body io.Reader) (o order, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&o)
	if err == nil && !errors.Is(decoder.Decode(new(any)), io.EOF) {
		err = errors.New("there is more than one value")
	}
	switch {
	case err == nil:
		return o, nil
	case errors.As(err, new(*http.MaxBytesError)):
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

// statusOf tells the errors of the client from those of the API server.
func statusOf(err error) int {
	var refused refusal
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &refused):
		return refused.status
	case errors.As(err, &status) && status.Status().Code >= 400 && status.Status().Code < 500:
		return int(status.Status().Code)
	}
	return http.StatusBadGateway
}
