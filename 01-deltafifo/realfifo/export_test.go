package realfifo

// Locked reports whether a goroutine holds the lock of the queue.
func (q *Queue) Locked() bool {
	if q.mu.TryLock() {
		q.mu.Unlock()
		return false
	}
	return true
}
