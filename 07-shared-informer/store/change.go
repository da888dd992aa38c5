package store

// A Change is the effect of a write on the object of a key. Old is nil if the object is new. New is
// nil if the object was removed.
type Change struct {
	Key      string
	Old, New any
}
