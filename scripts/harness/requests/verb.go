package requests

import "net/http"

// A Verb is the verb of a request. It distinguishes the kinds of lists and watches.
type Verb string

// The verbs.
const (
	List      Verb = "LIST"
	NextPage  Verb = "LIST of a next page"
	Watch     Verb = "WATCH"
	WatchList Verb = "WATCH with the initial list"
	Other     Verb = "other"
)

// VerbOf returns the verb of a request. Every GET that does not watch counts as a LIST.
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

// Watches reports whether the response is a stream of events.
func (v Verb) Watches() bool { return v == Watch || v == WatchList }
