// Package requests counts what a client asks of the API server.
package requests

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// A Counter counts the requests of the clients that it was built into with
// Count. The zero value is ready for use.
type Counter struct {
	mu    sync.Mutex
	verbs map[string]int
}

// Count changes a configuration so that clients made from it are counted.
func (c *Counter) Count(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &transport{counter: c, next: next}
	})
}

// Lists returns how many requests asked for a list, plain or as a stream.
func (c *Counter) Lists() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verbs[list] + c.verbs[streamed]
}

// Watches returns how many requests were for a watch from a version, without
// the list.
func (c *Counter) Watches() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verbs[watch]
}

// Watching is true once a watch was asked for, with the list or without.
func (c *Counter) Watching() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verbs[watch]+c.verbs[streamed] > 0
}

// String tells the counts, such as "LIST 1, WATCH 1", or "none".
func (c *Counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var counts []string
	for _, verb := range []string{streamed, list, watch, other} {
		if n := c.verbs[verb]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", verb, n))
		}
	}
	if counts == nil {
		return "none"
	}
	return strings.Join(counts, ", ")
}

// Reset forgets all that was counted.
func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verbs = nil
}

func (c *Counter) add(verb string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verbs == nil {
		c.verbs = map[string]int{}
	}
	c.verbs[verb]++
}

const (
	list     = "LIST"
	watch    = "WATCH"
	streamed = "WATCH with the initial list"
	other    = "other"
)

// verb names a request; whatever reads and does not watch is taken for a LIST.
func verb(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		return other
	case query.Get("sendInitialEvents") == "true":
		return streamed
	case query.Get("watch") != "":
		return watch
	default:
		return list
	}
}

// transport counts requests on their way to the next one.
type transport struct {
	counter *Counter
	next    http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.counter.add(verb(r))
	return t.next.RoundTrip(r)
}

// WrappedRoundTripper lets client-go find the connections below, to close them.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
