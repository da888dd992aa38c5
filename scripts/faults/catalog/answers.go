// Faults in how the API server answers.

package catalog

import (
	"context"
	"net/http"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/tamper"
)

var answers = []bout.Fault{
	{
		Name:    "429 with Retry-After",
		Do:      refusing(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, time.Second),
		Noticed: saw("429"),
	},
	{
		Name:    "500 for a while",
		Do:      refusing(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0),
		Noticed: saw("500"),
	},
	{
		Name:    "503 for a while",
		Do:      refusing(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0),
		Noticed: saw("503"),
	},
	{
		Name:    "a LIST that takes long",
		Do:      slowList,
		Noticed: rewatched,
	},
	{
		Name:    "410 within a paged LIST",
		Do:      expiredPage,
		Noticed: saw("410"),
	},
}

// refusing breaks the connections, and refuses every request for a while.
func refusing(code int, reason metav1.StatusReason, retryAfter time.Duration) func(context.Context, *bout.Bout) error {
	return func(ctx context.Context, b *bout.Bout) error {
		each(b, func(s *bout.Subject) {
			s.HTTP.SetRule(tamper.Refuse(code, reason, retryAfter))
			s.TCP.Reset()
		})
		err := b.Hold(ctx, b.Scale.Hold)
		each(b, func(s *bout.Subject) { s.HTTP.SetRule(nil) })
		return err
	}
}

// slowList makes every subject list again, and holds up the lists, all of them
// for that long at least.
func slowList(ctx context.Context, b *bout.Bout) error {
	slow := make(chan struct{})
	over := sync.OnceFunc(func() { close(slow) })
	defer over()
	var held atomic.Int32
	each(b, func(s *bout.Subject) {
		s.HTTP.SetRule(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			if tamper.Verb(request) != "WATCH" {
				held.Add(1)
				select {
				case <-slow:
				case <-request.Context().Done():
				}
			}
			return next.RoundTrip(request)
		})
	})
	defer each(b, func(s *bout.Subject) { s.HTTP.SetRule(nil) })
	return inTurn(
		func() error { return play(ctx, b, tamper.Expired) },
		func() error {
			return bout.Until(ctx, b.Scale.Patience, "all lists are held up", func() bool {
				return int(held.Load()) >= 2*len(b.Subjects)
			})
		},
		func() error { return b.Hold(ctx, b.Scale.SlowList) },
		func() error { over(); return nil })
}

// expiredPage makes every subject list again, from a server that knows no
// streamed lists and gives plain ones in pages, and that has forgotten the
// version of the list when the second page is asked for.
func expiredPage(ctx context.Context, b *bout.Bout) error {
	each(b, func(s *bout.Subject) {
		var mu sync.Mutex
		expired := map[string]bool{} // the lists in pages of these resources are over
		s.HTTP.SetRule(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
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
		})
	})
	return inTurn(
		func() error { return b.Meanwhile(ctx) },
		func() error { return play(ctx, b, tamper.Expired) },
		func() error {
			return bout.Until(ctx, b.Scale.Patience, "all lists have failed at their second page", func() bool {
				return !slices.ContainsFunc(b.Subjects, func(s *bout.Subject) bool {
					return s.HTTP.Outcomes("410") < 2
				})
			})
		},
		func() error { each(b, func(s *bout.Subject) { s.HTTP.SetRule(nil) }); return nil })
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
