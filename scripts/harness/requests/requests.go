// Package requests counts what a client asks of the API server.
package requests

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// A Counter counts the requests of the clients that it was built into with
// Count. The zero value is ready for use.
type Counter struct {
	mu     sync.Mutex
	counts map[Verb]int
}

// Count changes a configuration so that clients made from it are counted.
func (c *Counter) Count(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{counter: c, next: next} })
}

// Lists returns how many requests asked for a list, plain or as a stream. Each page
// is one.
func (c *Counter) Lists() int { return c.sum(List, NextPage, WatchList) }

// Watches returns how many requests were for a watch from a version, without
// the list.
func (c *Counter) Watches() int { return c.sum(Watch) }

// Watching is true once the server has accepted a watch, with the list or
// without: what happens from now on is seen.
func (c *Counter) Watching() bool { return c.sum(accepted) > 0 }

func (c *Counter) sum(verbs ...Verb) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, verb := range verbs {
		n += c.counts[verb]
	}
	return n
}

// String lists the counts, such as "LIST 1, WATCH 1", or "none".
func (c *Counter) String() string {
	var counts []string
	for _, verbs := range [][]Verb{{WatchList}, {List, NextPage}, {Watch}, {Other}} {
		if n := c.sum(verbs...); n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", verbs[0], n))
		}
	}
	return cmp.Or(strings.Join(counts, ", "), "none")
}

// Reset forgets all that was counted.
func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts = nil
}

func (c *Counter) add(verb Verb) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[Verb]int{}
	}
	c.counts[verb]++
}

// transport counts requests on their way to the next one.
type transport struct {
	counter *Counter
	next    http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	verb := VerbOf(r)
	t.counter.add(verb)
	response, err := t.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && verb.Watches() {
		t.counter.add(accepted)
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the connections below, to close them.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// A Verb is what a request asks of the API server.
type Verb string

// The verbs.
const (
	List      Verb = "LIST"
	NextPage  Verb = "LIST of a next page"
	Watch     Verb = "WATCH"
	WatchList Verb = "WATCH with the initial list"
	Other     Verb = "other"

	accepted Verb = "accepted watch" // counted besides the request itself
)

// VerbOf names a request. Whatever reads and does not watch is taken for a LIST.
func VerbOf(r *http.Request) Verb {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		return Other
	case query.Get("sendInitialEvents") == "true":
		return WatchList
	case query.Get("watch") != "":
		return Watch
	case query.Get("continue") != "":
		return NextPage
	default:
		return List
	}
}

// Watches tells whether the answer is a stream of events.
func (v Verb) Watches() bool { return v == Watch || v == WatchList }
