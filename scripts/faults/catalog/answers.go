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

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/tamper"
)

var answers = []bout.Fault{
	{
		Name: "429 with Retry-After",
		Do:   refusing(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, time.Second),
	},
	{
		Name: "500 for a while",
		Do:   refusing(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0),
	},
	{
		Name: "503 for a while",
		Do:   refusing(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0),
	},
	{
		Name:    "a LIST that takes long",
		Do:      steps{slowList},
		Noticed: rewatched,
	},
	{
		// Every subject lists again.
		Name: "410 within a paged LIST",
		Do: steps{
			each(func(s *bout.Subject) { s.HTTP.SetRule(expiredPage()) }),
			bout.Meanwhile,
			play(tamper.Expired),
			until("all lists have failed at their second page", func(s *bout.Subject) bool {
				return s.HTTP.Outcomes("410") >= 2
			}),
			rule(nil),
		},
	},
}

// refusing breaks the connections, and refuses every request for a while.
func refusing(code int, reason metav1.StatusReason, retryAfter time.Duration) steps {
	return steps{
		rule(tamper.Refuse(code, reason, retryAfter)), reset, hold, answered(strconv.Itoa(code)), rule(nil),
	}
}

// rule has a rule answer the requests of every subject, or the server again.
func rule(r tamper.Rule) bout.Step { return each(func(s *bout.Subject) { s.HTTP.SetRule(r) }) }

// slowList makes every subject list again, and holds up the lists, all of them
// for that long at least.
func slowList(ctx context.Context, b *bout.Bout) error {
	slow, over := context.WithCancel(ctx)
	defer over()
	var held atomic.Int32
	return bout.InTurn(
		rule(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			if tamper.Verb(request) != "WATCH" {
				held.Add(1)
				select {
				case <-slow.Done():
				case <-request.Context().Done():
				}
			}
			return next.RoundTrip(request)
		}),
		play(tamper.Expired),
		until("all lists are held up", func(*bout.Subject) bool { return int(held.Load()) >= 2*len(b.Subjects) }),
		func(ctx context.Context, b *bout.Bout) error { return b.Hold(ctx, b.Scale.SlowList) },
		rule(nil),
	)(ctx, b)
}

// expiredPage is the rule of a server that knows no streamed lists and gives
// plain ones in pages, and that has forgotten the version of the list when the
// second page is asked for.
func expiredPage() tamper.Rule {
	var mu sync.Mutex
	expired := map[string]bool{} // the lists in pages of these resources are over
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		switch resource := path.Base(request.URL.Path); tamper.Verb(request) {
		case "STREAM":
			return tamper.Status(request, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, 0), nil
		case "PAGE":
			expired[resource] = true
			return tamper.Status(request, http.StatusGone, metav1.StatusReasonExpired, 0), nil
		case "LIST":
			if !expired[resource] {
				request = paged(request)
			}
		}
		return next.RoundTrip(request)
	}
}

// paged asks for the first few objects of a list, as they are now.
func paged(request *http.Request) *http.Request {
	clone := request.Clone(request.Context())
	query := clone.URL.Query()
	query.Set("limit", "10")
	query.Del("resourceVersion")
	query.Del("resourceVersionMatch")
	clone.URL.RawQuery = query.Encode()
	return clone
}
