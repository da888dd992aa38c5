package processor

import (
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// A Processor delivers what is distributed to handlers, which may come and go.
//
// What a handler can rely on:
//   - It is called from one goroutine, in the order in which things happened to
//     each object. How fast it is makes no difference to the others.
//   - What is distributed from the moment of Add on reaches it; what it was given
//     to start with comes before.
//   - A call that panics counts as made. It is reported to utilruntime's
//     PanicHandlers, and the next one follows a second later.
//   - When Remove has returned, at most one more call is made: the one that is
//     under way, or was just about to be. What waits is dropped. ShutdownChan says
//     when that call has returned. Stop waits for it.
//
// It runs once: Start, then Stop.
type Processor struct {
	// Observer is called with each notification, call and end of a handler. Set it
	// before Start. Default: no observer.
	Observer observer.Observer

	fanout Fanout

	mu            sync.Mutex
	registrations map[*Registration]bool
	started       bool
	stopped       bool
	synced        bool
	notDue        map[Listener]bool // as of the last ShouldResync; a new map each time
	wg            sync.WaitGroup    // the goroutines of the handlers
}

// New returns a Processor whose handlers listen to the fanout.
func New(fanout Fanout) *Processor {
	return &Processor{fanout: fanout, registrations: map[*Registration]bool{}}
}

// Add registers a handler. First it is notified of what is present, which its
// options say, then of all that is distributed from now on. The caller must not
// let anything be distributed between its look at what is present and this call.
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

// Remove ends a registration. It does not wait for a call that is under way:
// that is what ShutdownChan is for. To remove twice is fine.
func (p *Processor) Remove(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registrations[r] {
		delete(p.registrations, r)
		r.end()
	}
}

// Start begins to call handlers. What is distributed before reaches nobody.
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

// start makes a registration listen. The caller holds mu, and Synced waits: either
// what is present is the initial list, or the mark of its end is still to come.
func (p *Processor) start(r *Registration) {
	var folded func(int, int)
	if r.observer = p.Observer; r.observer != nil {
		folded = r.observeFolded
		r.observe(observer.Event{Kind: observer.Joined})
	}
	r.listener = p.fanout.Listen(folded)
	presentIsAll := p.synced
	p.wg.Go(func() { r.run(presentIsAll) })
}

// Stop ends all registrations, for good. It returns when the last handler has
// returned, so a handler must not call it.
func (p *Processor) Stop() {
	defer p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for r := range p.registrations {
		delete(p.registrations, r)
		defer r.end() // all of them end, even if an observer panics
	}
}

// Distribute notifies all handlers of a change.
func (p *Processor) Distribute(n Notification) {
	if p.Observer != nil {
		p.Observer.Observe(n.Event(observer.Appended))
	}
	p.fanout.Distribute(n)
}

// Resync is Distribute for what has not changed: it is for those handlers only
// that the last call of ShouldResync found to be due, and for those that came
// after it.
func (p *Processor) Resync(n Notification) {
	p.mu.Lock()
	n.skip = p.notDue
	p.mu.Unlock()
	p.Distribute(n)
}

// ShouldResync decides which handlers are due for a resync, and returns whether
// any is. For those, the next period begins now.
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

// Synced records that all of the initial list has been distributed. A registration
// has synced when its handler has come to this point. Only the first call counts.
func (p *Processor) Synced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.synced {
		p.synced = true
		p.fanout.Distribute(Notification{Kind: synced})
	}
}
