// The state of the reflector of our informer, and of its connection to the API server.

package recorder

import "example.com/informer/03-reflector/observer"

// What a reflector can be doing.
const (
	stopped    = "stopped"
	listing    = "listing"
	streaming  = "streaming" // it gets a list over the watch
	watching   = "watching"
	backingOff = "backing off"
)

// A reflectorState counts requests, even those that have failed.
type reflectorState struct {
	doing     string
	connected bool   // a list or a watch has succeeded, and none has failed or ended since
	version   string // the resource version that it has reached; "" before the first list
	err       string // why the last list or watch failed; "" while it watches

	lists, watches    int // requests
	events, bookmarks int // of the watches

	lastEvent  int64 // when the last event or bookmark came, in Unix milliseconds
	backoffEnd int64 // when it tries again, in Unix milliseconds; 0 unless it backs off
}

// apply applies an event of the reflector.
func (r *reflectorState) apply(e *event) {
	r.backoffEnd = 0
	switch e.Kind {
	case observer.Listing:
		r.doing = listing
		r.lists++
		if e.Stream { // a streamed list is also a WATCH request
			r.doing = streaming
			r.watches++
		}
	case observer.Listed:
		r.version, r.connected = e.Version, true
		if r.doing == streaming { // the watch of the streamed list continues
			r.doing, r.err = watching, ""
		}
	case observer.Watching:
		r.watches++
		r.doing, r.err, r.connected = watching, "", true
	case observer.Received:
		r.events++
		r.version, r.lastEvent = e.Version, e.time.UnixMilli()
	case observer.Bookmark:
		r.bookmarks++
		r.version, r.lastEvent = e.Version, e.time.UnixMilli()
	case observer.Ended, observer.Expired:
		r.connected = false
		if e.Err != nil {
			r.err = clip(e.Err.Error())
		}
	case observer.BackingOff:
		r.doing, r.backoffEnd = backingOff, e.time.Add(e.Took).UnixMilli()
	}
}

// A serverView is the API server as the page shows it.
type serverView struct {
	Connected bool  `json:"connected"`
	Cut       bool  `json:"cut"`
	Lists     int   `json:"lists"`
	Watches   int   `json:"watches"`
	Bytes     int64 `json:"bytes"`
}

func (r *reflectorState) server(status Status) serverView {
	return serverView{
		Connected: r.connected && !status.Cut, Cut: status.Cut,
		Lists: r.lists, Watches: r.watches, Bytes: status.Bytes,
	}
}

// A reflectorView is the reflector as the page shows it.
type reflectorView struct {
	Doing     string `json:"doing"`
	Until     int64  `json:"until"`
	Version   string `json:"version"`
	LastEvent int64  `json:"lastEvent"`
	Events    int    `json:"events"`
	Bookmarks int    `json:"bookmarks"`
	Error     string `json:"error"`
}

func (r *reflectorState) station() reflectorView {
	return reflectorView{
		Doing: r.doing, Until: r.backoffEnd, Version: r.version, LastEvent: r.lastEvent,
		Events: r.events, Bookmarks: r.bookmarks, Error: r.err,
	}
}
