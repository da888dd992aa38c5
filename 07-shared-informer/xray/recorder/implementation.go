package recorder

// An Implementation is one of the two informers that the page shows. Both get the same objects.
type Implementation string

const (
	Ours     Implementation = "ours"
	ClientGo Implementation = "client-go"
)
