// A request for an action, and all that is wrong with some.

package xray

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/informer/07-shared-informer/web"
)

const maxBody = 4 << 10

// do answers POST /xray/do. The server has checked the host and the origin.
func (x *XRay) do(c *gin.Context) {
	s, _, ok := x.subject(c)
	if !ok {
		return
	}
	if subtle.ConstantTimeCompare([]byte(c.GetHeader("X-Xray-Token")), []byte(x.token)) != 1 {
		web.Fail(c, http.StatusForbidden, "the header X-Xray-Token is not the one of this run: load the page again")
		return
	}
	if !x.limit.TryAccept() {
		c.Header("Retry-After", "1")
		web.Fail(c, http.StatusTooManyRequests, "too many actions: at most 10 a second are taken; try again")
		return
	}
	if kind, _, err := mime.ParseMediaType(c.GetHeader("Content-Type")); err != nil || kind != "application/json" {
		web.Fail(c, http.StatusUnsupportedMediaType, "the Content-Type is %q: want application/json",
			c.GetHeader("Content-Type"))
		return
	}
	o, err := readOrder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err == nil && actions[o.Action] == nil {
		err = refuse(http.StatusBadRequest, "there is no action %q (known: %q)", o.Action,
			slices.Sorted(maps.Keys(actions)))
	}
	done := ""
	if err == nil {
		ctx, cancel := context.WithTimeout(x.ctx, actionTimeout)
		defer cancel()
		done, err = actions[o.Action](x, ctx, s, o)
	}
	switch status := statusOf(err); {
	case err == nil:
		c.JSON(http.StatusOK, gin.H{"done": done})
	case errors.As(err, new(refusal)):
		web.Fail(c, status, "%v", err)
	default:
		web.Fail(c, status, "the action %q failed: %v (try again; kubectl says whether the cluster is there)",
			o.Action, err)
	}
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
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return o, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
	}
	return o, refuse(http.StatusBadRequest, `the body: %w; want JSON such as {"action":"create"}`, err)
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
