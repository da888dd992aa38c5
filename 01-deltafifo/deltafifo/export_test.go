package deltafifo

// Locked says whether somebody holds the lock of the queue.
func (q *Queue) Locked() bool {
	if q.lock.TryLock() {
		q.lock.Unlock()
		return false
	}
	return true
}
