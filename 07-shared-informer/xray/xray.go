// Package xray shows an informer at work on a web page, beside client-go's: what it
// gets, stores, and hands to handlers that are fast, slow or stalled. The page's
// buttons change objects, cut the connection, and add and remove handlers.
package xray

import (
	"context"
	"crypto/subtle"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/07-shared-informer/xray/recorder"
	"example.com/informer/07-shared-informer/xray/view"
)

const actionTimeout = 15 * time.Second

// An XRay is the page, and all that works behind it.
type XRay struct {
	ctx      context.Context
	subjects []*Subject
	view     *view.View
	limit    flowcontrol.PassiveRateLimiter // of actions
	running  sync.WaitGroup
}

// Start begins to look into informers, which must not have started, until ctx ends.
// The page is about one namespace: no object of another is shown or changed.
func Start(ctx context.Context, namespace string, subjects ...*Subject) (*XRay, error) {
	x := &XRay{ctx: ctx, subjects: subjects, limit: flowcontrol.NewTokenBucketPassiveRateLimiter(10, 20)}
	var recorders []*recorder.Recorder
	for _, s := range subjects {
		if err := s.prepare(ctx, namespace); err != nil {
			return nil, fmt.Errorf("looking into the informer %s: %w", s.Name, err)
		}
		recorders = append(recorders, s.recorder)
	}
	x.view = view.New(ctx, recorders)
	for _, s := range subjects {
		x.running.Go(func() { s.recorder.Run(ctx) })
		x.running.Go(func() { s.lanes[recorder.Theirs].RunWithContext(ctx) })
		x.running.Go(func() {
			wait.UntilWithContext(ctx, func(ctx context.Context) { runUpdates(ctx, s) }, recorder.TickTime)
		})
	}
	return x, nil
}

// Wait returns when the context has ended, and with it all that Start has begun.
func (x *XRay) Wait() { x.running.Wait() }

// Pages are what a web.Server serves.
func (x *XRay) Pages() web.Pages {
	pages := x.view.Pages()
	pages["POST /xray/do"] = x.view.About(x.do)
	pages["/"] = func(c *gin.Context) { c.Redirect(http.StatusFound, "/xray") }
	return pages
}

// do answers a request for an action. The server has checked the host and the origin.
func (x *XRay) do(c *gin.Context, i int) {
	done, err := x.act(c, x.subjects[i])
	switch status := statusOf(err); {
	case err == nil:
		c.JSON(http.StatusOK, gin.H{"done": done})
	case status < http.StatusInternalServerError:
		web.Fail(c, status, "%v", err)
	default:
		web.Fail(c, status, "the action failed: %v (try again; kubectl says whether the cluster is there)", err)
	}
}

// act does the action, if it may.
func (x *XRay) act(c *gin.Context, s *Subject) (done string, err error) {
	given := c.GetHeader("Content-Type")
	kind, _, _ := mime.ParseMediaType(given)
	switch {
	case subtle.ConstantTimeCompare([]byte(c.GetHeader("X-Xray-Token")), []byte(x.view.Token)) != 1:
		return "", refuse(http.StatusForbidden,
			"the header X-Xray-Token is not the one of this run: load the page again")
	case !x.limit.TryAccept():
		c.Header("Retry-After", "1")
		return "", refuse(http.StatusTooManyRequests, "too many actions: at most 10 a second are taken; try again")
	case kind != "application/json":
		return "", refuse(http.StatusUnsupportedMediaType, "the Content-Type is %q: want application/json", given)
	}
	o, err := readOrder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		return "", err
	}
	do, ok := actions[o.Action]
	if !ok {
		return "", refuse(http.StatusBadRequest, "there is no action %q (known: %q)", o.Action,
			slices.Sorted(maps.Keys(actions)))
	}
	ctx, cancel := context.WithTimeout(x.ctx, actionTimeout)
	defer cancel()
	return do(ctx, s, o)
}
