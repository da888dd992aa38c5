// Package server shows informers at work on a web page, each beside client-go's informer or one with
// other parts: what it receives, what waits in its queue, what it stores, and what it delivers to
// handlers that are fast, slow or stalled. The buttons of the page change objects, cut the
// connection, and add and remove handlers.
package server

import (
	"context"
	"crypto/subtle"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/informer/docs/xray/recorder"
	"example.com/informer/docs/xray/view"
	"example.com/informer/scripts/harness/web"
)

const (
	actionTimeout    = 15 * time.Second
	actionsPerSecond = 10
	actionBurst      = 20
)

// An XRay is the page, and what works behind it.
type XRay struct {
	ctx     context.Context
	pairs   []*pair
	view    *view.View // of the recorders of the pairs, in the same order
	limiter flowcontrol.PassiveRateLimiter
	running sync.WaitGroup
}

// Start begins to show informers, which must not have started, until ctx ends. The page is about
// one namespace: it shows and changes no object of another.
func Start(ctx context.Context, namespace string, informers ...*InformerOptions) (*XRay, error) {
	x := &XRay{ctx: ctx, limiter: flowcontrol.NewTokenBucketPassiveRateLimiter(actionsPerSecond, actionBurst)}
	var recorders []*recorder.Recorder
	for _, o := range informers {
		p, err := newPair(ctx, namespace, o)
		if err != nil {
			return nil, fmt.Errorf("looking into the informer %s: %w", o.Name, err)
		}
		x.pairs = append(x.pairs, p)
		recorders = append(recorders, p.recorder)
	}
	x.view = view.New(ctx, recorders)
	x.view.Book = os.Getenv("READING_ROOM") // set by the reading room that runs this program
	for _, p := range x.pairs {
		x.running.Go(func() { p.recorder.Run(ctx) })
		x.running.Go(func() { p.second.RunWithContext(ctx) })
		x.running.Go(func() { wait.UntilWithContext(ctx, p.runUpdates, recorder.TickInterval) })
	}
	return x, nil
}

// Wait returns when ctx has ended, and with it all that Start has started.
func (x *XRay) Wait() { x.running.Wait() }

// Pages returns the pages for a web.Server.
func (x *XRay) Pages() web.Pages {
	pages := x.view.Pages()
	pages["POST /xray/do"] = x.view.ForInformer(x.serveAction)
	pages["/"] = func(c *gin.Context) { c.Redirect(http.StatusFound, "/xray") }
	return pages
}

// serveAction answers a request for an action on a pair. The server has checked the host and the
// origin.
func (x *XRay) serveAction(c *gin.Context, i int) {
	done, err := x.act(c, x.pairs[i])
	if err == nil {
		c.JSON(http.StatusOK, gin.H{"done": done})
		return
	}
	status := statusOf(err)
	if status >= http.StatusInternalServerError {
		err = fmt.Errorf("the action failed: %w (try again; kubectl says whether the cluster is there)", err)
	}
	web.Fail(c, status, "%v", err)
}

// act does the action that is requested, if the request is allowed.
func (x *XRay) act(c *gin.Context, p *pair) (done string, err error) {
	if err := x.checkRequest(c); err != nil {
		return "", err
	}
	request, err := readActionRequest(http.MaxBytesReader(c.Writer, c.Request.Body, maxBodyBytes))
	if err != nil {
		return "", err
	}
	do, ok := actions[request.Action]
	if !ok {
		return "", refuse(http.StatusBadRequest, "there is no action %q (known: %q)", request.Action,
			slices.Sorted(maps.Keys(actions)))
	}
	ctx, cancel := context.WithTimeout(x.ctx, actionTimeout)
	defer cancel()
	return do(ctx, p, request)
}

// checkRequest checks the headers of a request, and the rate of requests. A request without the
// token does not count for the rate.
func (x *XRay) checkRequest(c *gin.Context) error {
	token := c.GetHeader("X-Xray-Token")
	if subtle.ConstantTimeCompare([]byte(token), []byte(x.view.Token)) != 1 {
		return refuse(http.StatusForbidden, "the header X-Xray-Token is not the one of this run: load the page again")
	}
	if !x.limiter.TryAccept() {
		c.Header("Retry-After", "1")
		return refuse(http.StatusTooManyRequests, "too many actions: at most %d a second are taken; try again",
			actionsPerSecond)
	}
	contentType := c.GetHeader("Content-Type")
	if mediaType, _, _ := mime.ParseMediaType(contentType); mediaType != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type is %q: want application/json", contentType)
	}
	return nil
}
