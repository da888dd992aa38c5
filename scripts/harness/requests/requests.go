// Package requests counts the requests of a client to the API server, by verb.
package requests

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// A Counter counts the requests of the clients that are made from a configuration that was passed
// to Count. The zero value is ready for use.
type Counter struct {
	mu       sync.Mutex
	counts   map[Verb]int
	accepted int // watches, with the list or without, that the server has accepted
}

// Count changes a configuration so that the requests of clients made from it are counted.
func (c *Counter) Count(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{counter: c, next: next} })
}

// Lists returns how many requests asked for a list, plain or as a stream. Each page is a request.
func (c *Counter) Lists() int { return c.sum(List, NextPage, WatchList) }

// Watches returns how many requests asked for a watch from a version, without the list.
func (c *Counter) Watches() int { return c.sum(Watch) }

// Watching reports whether the server has accepted a watch, with the list or without. The client
// gets every event from then on.
func (c *Counter) Watching() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.accepted > 0
}

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

// Reset sets all counts to zero.
func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.accepted = nil, 0
}

func (c *Counter) add(verb Verb) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[Verb]int{}
	}
	c.counts[verb]++
}

func (c *Counter) addAccepted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted++
}

// A transport counts requests, and passes them to the next transport.
type transport struct {
	counter *Counter
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	verb := VerbOf(r)
	t.counter.add(verb)
	response, err := t.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && verb.Watches() {
		t.counter.addAccepted()
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the transport below, to close its connections.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
