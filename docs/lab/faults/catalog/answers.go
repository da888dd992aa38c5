// Faults in how the API server answers.

package catalog

import (
	"context"
	"net/http"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/docs/lab/faults/scenario"
	"example.com/informer/scripts/harness/requests"
)

var answers = []scenario.Fault{
	{
		Name: "429 with Retry-After",
		Do:   refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, time.Second),
	},
	{
		Name: "500 for a while",
		Do:   refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0),
	},
	{
		Name: "503 for a while",
		Do:   refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0),
	},
	{
		Name:    "a LIST that takes long",
		Do:      steps{slowList},
		Noticed: rewatched,
	},
	{
		// Every instance lists again.
		Name: "410 within a paged LIST",
		Do: steps{
			each(func(in *scenario.Instance) { in.HTTP.SetRule(expiredPage()) }),
			scenario.ChangeHandlers,
			inject(httpfault.Expired),
			until("all lists have failed at their second page", func(in *scenario.Instance) bool {
				return in.HTTP.Outcomes("410") >= 2
			}),
			rule(nil),
		},
	},
}

// refuse breaks the connections, and refuses every request for a while.
func refuse(code int, reason metav1.StatusReason, retryAfter time.Duration) steps {
	return steps{
		rule(httpfault.Refuse(code, reason, retryAfter)), reset, hold, waitForOutcome(strconv.Itoa(code)), rule(nil),
	}
}

// rule lets a rule answer the requests of every instance; nil: the server again.
func rule(r httpfault.Rule) scenario.Step {
	return each(func(in *scenario.Instance) { in.HTTP.SetRule(r) })
}

// slowList makes every instance list again, and delays all these lists.
func slowList(ctx context.Context, s *scenario.Scenario) error {
	slow, end := context.WithCancel(ctx)
	defer end()
	var delayed atomic.Int32
	return scenario.Sequence(
		rule(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			if requests.VerbOf(request) != requests.Watch {
				delayed.Add(1)
				select {
				case <-slow.Done():
				case <-request.Context().Done():
				}
			}
			return next.RoundTrip(request)
		}),
		inject(httpfault.Expired),
		until("all lists are delayed", func(*scenario.Instance) bool {
			return int(delayed.Load()) >= 2*len(s.Instances)
		}),
		func(ctx context.Context, s *scenario.Scenario) error { return s.Hold(ctx, s.Scale.SlowList) },
		rule(nil),
	)(ctx, s)
}

// expiredPage is a rule: it refuses a watch with the initial list, makes plain lists
// come in pages, and answers 410 to the request for the second page.
func expiredPage() httpfault.Rule {
	var mu sync.Mutex
	expired := map[string]bool{} // resources whose second page was answered
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		switch resource := path.Base(request.URL.Path); requests.VerbOf(request) {
		case requests.WatchList:
			return httpfault.Status(request, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, 0), nil
		case requests.NextPage:
			expired[resource] = true
			return httpfault.Status(request, http.StatusGone, metav1.StatusReasonExpired, 0), nil
		case requests.List:
			if !expired[resource] {
				request = firstPage(request)
			}
		}
		return next.RoundTrip(request)
	}
}

// firstPage turns a list into a request for its first page.
func firstPage(request *http.Request) *http.Request {
	clone := request.Clone(request.Context())
	query := clone.URL.Query()
	query.Set("limit", "10")
	query.Del("resourceVersion")
	query.Del("resourceVersionMatch")
	clone.URL.RawQuery = query.Encode()
	return clone
}
