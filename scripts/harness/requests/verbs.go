// Which request is a LIST, and which a WATCH.

package requests

import "net/http"

// A Verb is what a request asks of the API server.
type Verb string

// The verbs.
const (
	List      Verb = "LIST"
	NextPage  Verb = "LIST of a next page"
	Watch     Verb = "WATCH"
	WatchList Verb = "WATCH with the initial list"
	Other     Verb = "other"
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
