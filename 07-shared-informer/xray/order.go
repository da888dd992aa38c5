// An order: what a request asks for, and all that is wrong with some.

package xray

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const maxBody = 4 << 10

// An order is the body of a request for an action.
type order struct {
	Action  string
	Name    string // of an object
	Count   int    // of updates
	Handler string // its name
	Pace    string
}

func readOrder(body io.Reader) (o order, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&o); err == nil && !errors.Is(decoder.Decode(new(any)), io.EOF) {
		err = errors.New("there is more than one value")
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		return o, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
	} else if err != nil {
		return o, refuse(http.StatusBadRequest, `the body: %v; want JSON such as {"action":"create"}`, err)
	}
	return o, nil
}

// refuse is an error of the client, as the API server has them.
func refuse(status int32, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: status, Message: fmt.Sprintf(format, args...)}}
}

// statusOf tells the errors of the client from those of the API server.
func statusOf(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code >= 400 && status.Status().Code < 500 {
		return int(status.Status().Code)
	}
	return http.StatusBadGateway
}
