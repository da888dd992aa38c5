package recorder

import "encoding/json"

// An Object is the object of a record, before and after the change. Both are JSON, and shortened.
type Object struct {
	Key    string          `json:"key"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Shown reports whether there is something to show.
func (o Object) Shown() bool { return o.Before != nil || o.After != nil }
