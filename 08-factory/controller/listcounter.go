package main

import (
	"net/http"
	"strings"
	"sync/atomic"

	"example.com/informer/scripts/harness/requests"
)

// A listCounter counts the lists of informers. It does not count the reads of the Lease.
type listCounter struct {
	next  http.RoundTripper
	lists *atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (c listCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	verb := requests.VerbOf(r)
	if verb != requests.Watch && verb != requests.Other && !strings.Contains(r.URL.Path, "/leases/") {
		c.lists.Add(1)
	}
	return c.next.RoundTrip(r)
}
