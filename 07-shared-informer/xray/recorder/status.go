package recorder

// A Status is the part of the state that no event reports.
type Status struct {
	Cut           bool  // the connection is cut
	Bytes         int64 // that the server has sent to our informer
	Made, Updates int   // how many of the updates of a bulk are made; both are 0 if none is under way
}
