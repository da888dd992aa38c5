// Package processor brings one notification to many handlers. Each handler has its own speed.
package processor

import (
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// A Processor delivers notifications to handlers, which may come and go.
//
// A handler can rely on these rules:
//   - One goroutine calls it. The calls for one object come in the order of its changes. A slow
//     handler does not delay the others.
//   - First it gets the objects in Options.Present. Then it gets every notification that is
//     distributed after Add.
//   - A call that panics counts as made. The panic is reported to utilruntime's PanicHandlers, and
//     the next call follows a second later.
//   - After Remove has returned, at most one more call is made: the call that is under way, or is
//     about to begin. The notifications that wait are dropped. ShutdownChan is closed when the last
//     call has returned. Stop waits for it.
//
// A Processor runs once: Start, then Stop.
type Processor struct {
	fanout   Fanout
	observer observer.Observer // not changed once started; may be nil

	mu            sync.Mutex
	registrations map[*Registration]bool
	started       bool
	stopped       bool
	synced        bool
	notDue        map[Listener]bool // the result of the last ShouldResync; a new map each time
	wg            sync.WaitGroup    // the goroutines of the handlers
}

// New returns a Processor whose handlers listen to the fanout. Default: NewChannels.
func New(fanout Fanout) *Processor {
	if fanout == nil {
		fanout = NewChannels()
	}
	return &Processor{fanout: fanout, registrations: map[*Registration]bool{}}
}

// SetObserver sets the observer of the processor, and of its fan-out if that has one. Call it
// before Start. Default: no observer.
func (p *Processor) SetObserver(o observer.Observer) {
	p.observer = o
	if fanout, ok := p.fanout.(interface{ SetObserver(observer.Observer) }); ok {
		fanout.SetObserver(o)
	}
}

// Add registers a handler. First the handler gets the notifications in Options.Present, then those
// that are distributed from now on. The caller must not distribute anything between its look at the
// present objects and this call.
func (p *Processor) Add(handler cache.ResourceEventHandler, options Options) (*Registration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, errors.New("adding a handler: the processor has been stopped")
	}
	r := newRegistration(handler, options)
	p.registrations[r] = true
	if p.started {
		p.start(r)
	}
	return r, nil
}

// Remove ends a registration. It does not wait for a call that is under way: use ShutdownChan for
// that. A second Remove does nothing.
func (p *Processor) Remove(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registrations[r] {
		delete(p.registrations, r)
		r.end()
	}
}

// Start begins to call handlers. Notifications before Start reach nobody.
func (p *Processor) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started || p.stopped {
		return
	}
	p.started = true
	for r := range p.registrations {
		p.start(r)
	}
}

// start makes a registration listen. The caller holds mu, so that Synced waits. If the processor
// has synced, the present objects are the whole initial list. If not, the listener gets the end of
// the initial list later.
func (p *Processor) start(r *Registration) {
	r.observer = p.observer
	if r.observer != nil {
		r.observer.Observe(Joined{r})
	}
	r.listener = p.fanout.Listen(r)
	presentIsAll := p.synced
	p.wg.Go(func() { r.run(presentIsAll) })
}

// Stop ends all registrations for ever. It returns when the last handler has returned. So a handler
// must not call it.
func (p *Processor) Stop() {
	defer p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for r := range p.registrations {
		delete(p.registrations, r)
		defer r.end() // deferred: all registrations end, even if an observer panics
	}
}

// Distribute notifies all handlers of a change.
func (p *Processor) Distribute(n Notification) {
	if p.observer != nil {
		p.observer.Observe(Appended{n})
	}
	p.fanout.Distribute(n)
}

// Resync is Distribute for an object that has not changed. Only the handlers that were due at the last
// call of ShouldResync get it, and those that joined after that call.
func (p *Processor) Resync(n Notification) {
	p.mu.Lock()
	n.skip = p.notDue
	p.mu.Unlock()
	p.Distribute(n)
}

// ShouldResync decides which handlers are due for a resync, and reports whether there are any. For
// these handlers, the next period begins now.
func (p *Processor) ShouldResync(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notDue = map[Listener]bool{}
	due := false
	for r := range p.registrations {
		switch {
		case r.shouldResync(now):
			due = true
			r.nextResync = now.Add(r.options.ResyncPeriod)
		case r.listener != nil:
			p.notDue[r.listener] = true
		}
	}
	return due
}

// Synced marks the end of the initial list. A registration has synced when its handler has returned
// from all calls before this mark. Only the first call of Synced counts.
func (p *Processor) Synced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.synced {
		p.synced = true
		p.fanout.Distribute(Notification{Kind: Synced})
	}
}
