package informer

import "sync"

// BlockDeltas is the lock that is held while the store changes.
func (i *Informer) BlockDeltas() *sync.Mutex { return &i.blockDeltas }

// StartedLock is the lock of the settings.
func (i *Informer) StartedLock() *sync.Mutex { return &i.startedLock }

// Resync does what the reflector does when a handler is due for a resync.
func (i *Informer) Resync() error { return i.queue.Resync() }
