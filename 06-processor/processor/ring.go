package processor

// A ring is a queue that grows as long as there is memory. It never shrinks.
// The zero value is ready for use.
type ring struct {
	items []Notification
	head  int // where the oldest is
	count int
}

func (r *ring) push(n Notification) {
	if r.count == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.count)%len(r.items)] = n
	r.count++
}

// pop takes the oldest out. There must be one.
func (r *ring) pop() Notification {
	n := r.items[r.head]
	r.items[r.head] = Notification{} // or the object could not be freed
	r.head = (r.head + 1) % len(r.items)
	r.count--
	return n
}

// grow makes room for twice as many, with the oldest at the beginning.
func (r *ring) grow() {
	items := make([]Notification, max(2*len(r.items), 64))
	n := copy(items, r.items[r.head:])
	copy(items[n:], r.items[:r.head])
	r.items, r.head = items, 0
}
