// The start and the end of a run.

package informer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/03-reflector/reflector"
)

// Run is RunWithContext with a channel.
func (i *Informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

// Stop ends the run. An informer that was not run before will never run. Stop does not wait, and so
// every callback may call it: a handler, a watch error handler, a transform, an index function, an
// observer. ShutdownChan is closed when the run is over.
func (i *Informer) Stop() {
	i.cancel()
	if i.started.Swap(true) { // without a lock, because a callback may run under a lock
		return // RunWithContext does the rest
	}
	close(i.sourceEnded)
	go func() { // stopHandlers waits for a lock
		defer close(i.ended)
		i.stopHandlers()
	}()
}

// ShutdownChan is closed when the informer has run or was stopped, and its last handler has
// returned.
func (i *Informer) ShutdownChan() <-chan struct{} { return i.ended }

func (i *Informer) startMutationDetector() (stop func()) {
	var running sync.WaitGroup
	done := make(chan struct{})
	running.Go(func() { i.cacheMutationDetector.Run(done) })
	return func() {
		close(done)
		running.Wait()
	}
}

// stopHandlers refuses new handlers, and ends the others. It returns when the last handler has
// returned.
func (i *Informer) stopHandlers() {
	i.startedLock.Lock()
	i.stopped = true
	i.startedLock.Unlock()
	i.processor.Stop()
}

// newReflector makes the reflector from the settings before the start.
func (i *Informer) newReflector() *reflector.Reflector {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.observer != nil {
		i.processor.SetObserver(i.observer)
	}
	if i.resyncCheckPeriod > 0 {
		i.resyncCheckPeriod = max(i.resyncCheckPeriod, minimumResyncPeriod)
	}
	options := reflector.Options{
		ListerWatcher:   i.listerWatcher,
		Store:           i.queue,
		ExpectedType:    i.objectType,
		TypeDescription: i.options.ObjectDescription,
		ResyncPeriod:    i.resyncCheckPeriod,
		ShouldResync:    func() bool { return i.processor.ShouldResync(time.Now()) },
		Observer:        i.observer,
	}
	options.WatchErrorHandler = reflector.ToWatchErrorHandler(i.watchErrorHandler, options)
	i.reflector = reflector.New(options)
	return i.reflector
}
