package recorder

import "encoding/json"

// A Frame is the state now, and the last records.
type Frame struct {
	Seq      int64 // the number of the last record
	Stations json.RawMessage
	Records  []json.RawMessage
	Missed   int64           // records after the given one that are not in Records
	More     <-chan struct{} // closed when there are more records
}
