// What goes over the wire: a state, records, and the stations that are in both.

package xray

import "encoding/json"

// A snapshot is all stations as they are after record Seq.
type snapshot struct {
	Instance  string                     `json:"instance"` // another one after each start of the program
	Seq       int64                      `json:"seq"`
	Time      int64                      `json:"time"` // in milliseconds, as all times here
	Informers []string                   `json:"informers"`
	Informer  string                     `json:"informer"`
	Namespace string                     `json:"namespace"`
	Kind      string                     `json:"kind"`
	Set       map[string]json.RawMessage `json:"set"`
}

// A record is one thing that happened. Set has the stations that have changed since
// the record before: who merges the sets has the state.
type record struct {
	Seq     int64                      `json:"seq"`
	Time    int64                      `json:"time"`
	Lane    string                     `json:"lane"`
	Kind    string                     `json:"kind"`
	Chip    *chip                      `json:"chip,omitempty"`
	Caption *caption                   `json:"caption,omitempty"`
	Set     map[string]json.RawMessage `json:"set"`
	Skipped int                        `json:"skipped"` // events before this one that have no record
}

// A chip is an object on its way between two stations.
type chip struct {
	Key    string `json:"key"`
	Name   string `json:"name"`
	Change string `json:"change"`
	From   string `json:"from"`
	To     string `json:"to"`
	Object bool   `json:"object"` // the page of the object has something to show
}

// A caption says what happened, and where the book explains it.
type caption struct {
	Text string `json:"text"`
	Link string `json:"link"`
}

// The lanes.
const (
	ours     = "ours"
	clientGo = "client-go"
)

// The stations.

type serverStation struct {
	Connected bool  `json:"connected"`
	Cut       bool  `json:"cut"`
	Lists     int   `json:"lists"`
	Watches   int   `json:"watches"`
	Bytes     int64 `json:"bytes"`
}

type reflectorStation struct {
	Doing     string `json:"doing"`
	Until     int64  `json:"until,omitempty"`
	Version   string `json:"version"`
	LastEvent int64  `json:"lastEvent"`
	Events    int    `json:"events"`
	Bookmarks int    `json:"bookmarks"`
	Error     string `json:"error,omitempty"`
}

type storeStation struct {
	Objects int                       `json:"objects"`
	Version string                    `json:"version"`
	Indexes map[string]map[string]int `json:"indexes"` // of each, the values that changed last
	Values  map[string]int            `json:"values"`  // how many there are in each index
	Keys    []string                  `json:"keys"`    // those that changed last
}

type logStation struct {
	End    int     `json:"end"`
	Chunks []chunk `json:"chunks"`
	Start  int     `json:"start"`
}

type chunk struct {
	First int `json:"first"`
	Size  int `json:"size"`
	Used  int `json:"used"`
}

type handlerStation struct {
	Name    string `json:"name"`
	Pace    string `json:"pace"`
	Calls   int    `json:"calls"`
	Waiting int    `json:"waiting"`
	Folded  *int   `json:"folded,omitempty"` // these two in our lane only
	At      *int   `json:"at,omitempty"`
	Last    *call  `json:"last"`
	InCall  bool   `json:"inCall"`
}

type call struct {
	Time   int64   `json:"time"`
	Key    string  `json:"key"`
	Change string  `json:"change"`
	TookMs float64 `json:"tookMs"`
}

type informerStation struct {
	Received int `json:"received"`
	Objects  int `json:"objects"`
}

type bulkStation struct {
	What string `json:"what"`
	Made int    `json:"made"`
	Of   int    `json:"of"`
}
