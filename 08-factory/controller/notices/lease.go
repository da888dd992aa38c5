// Of several replicas, only the one that holds a Lease works.

package notices

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The numbers of Kubernetes' own controllers. Another replica takes over when it has seen no renewal
// for leaseDuration, or that the Lease has no holder or is gone. A write ends at the latest
// renewDeadline after the last renewal was sent. The 5 seconds in between are for requests that the
// network delivers late.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second // between two renewals; a replica that waits tries every 2 to 4.4 s
)

var errLeaseLost = errors.New("the Lease is lost: another replica may work now")

// A lease is the lock of a leader election. It knows until when this replica may write. The context
// that client-go gives to a leader can end too late: client-go goes on for renewDeadline when it sees
// that somebody else has the Lease, and tries to give the Lease back before it ends the context.
type lease struct {
	resourcelock.Interface
	watchdog *leaderelection.HealthzAdaptor

	mu    sync.Mutex
	until time.Time          // writes have to end at this time; zero: this replica may not write
	held  context.Context    // ends when this replica may not write any more
	lose  context.CancelFunc // ends held
}

// newLease returns a lease. It has a client and a rate limit of its own, so that a renewal does not
// wait for writes.
func newLease(config *rest.Config, namespace string, options Options, recorder events.EventRecorder) (*lease, error) {
	config = rest.CopyConfig(config)
	config.RateLimiter = nil // the other clients have this one
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, options.Lease,
		resourcelock.ResourceLockConfig{Identity: options.Identity, EventRecorder: leaseRecorder{recorder}},
		config, renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("making the Lease: %w", err)
	}
	// The argument says how long after the end of the Lease this process still counts as healthy.
	return &lease{Interface: lock, watchdog: leaderelection.NewLeaderHealthzAdaptor(leaseDuration)}, nil
}

// hold waits for the Lease, and calls work while this replica holds it. It gives the Lease back
// when work has returned, so that the next replica need not wait until the Lease has expired. If
// the Lease is lost before ctx ends, hold returns an error.
func (l *lease) hold(ctx context.Context, work func(context.Context)) error {
	led := make(chan context.Context, 1) // room for one: OnStartedLeading does not wait, even if hold has returned
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            l,
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) { led <- leading },
			OnStoppedLeading: func() {}, // it must not be nil, but hold does not need it
		},
	})
	if err != nil {
		return fmt.Errorf("starting the leader election: %w", err)
	}
	l.watchdog.SetLeaderElection(elector)

	// The election goes on when ctx ends: the Lease is renewed until work has returned. A Lease that is
	// given back earlier would let two replicas write.
	electing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var election sync.WaitGroup
	defer election.Wait()
	defer stop()
	election.Go(func() { elector.Run(electing) })
	select {
	case <-ctx.Done():
		return nil
	case leading := <-led:
		working, stopWork := context.WithCancel(ctx)
		defer stopWork()
		context.AfterFunc(leading, stopWork) // leading ends when the Lease is lost
		work(working)
	}
	if ctx.Err() == nil {
		return errLeaseLost
	}
	return nil
}

// Get implements resourcelock.Interface. If the Lease is gone, or has another holder or none, this
// replica begins no write until it has written the Lease again.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if apierrors.IsNotFound(err) || err == nil && record.HolderIdentity != l.Identity() {
		l.lost()
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update implements resourcelock.Interface. A renewal is an update.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

// write writes the Lease. If that succeeds, this replica may work until renewDeadline after it has
// sent the request. The time of the answer would be too late: another replica may have seen the
// renewal long before. If somebody else has changed or deleted the Lease, another replica may lead:
// this one begins no write until it has written the Lease again. Any other error says nothing about
// the holder.
func (l *lease) write(ctx context.Context, record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	sent := time.Now()
	err := send(ctx, record)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		l.lost()
	case err == nil && record.HolderIdentity != l.Identity(): // it was given back
		l.lost()
	case err == nil:
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.until.IsZero() {
			l.held, l.lose = context.WithCancel(context.Background())
		}
		l.until = sent.Add(renewDeadline)
	}
	return err
}

// lost ends the contexts of all writes.
func (l *lease) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.until.IsZero() {
		l.until = time.Time{}
		l.lose()
	}
}

// writing returns the context of a write that begins now. Only a replica that leads, or has led, may
// call it.
func (l *lease) writing() (context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return context.WithDeadline(l.held, l.until)
}

// A leaseRecorder records Events of a Lease. The election has an interface of its own for this.
type leaseRecorder struct{ events.EventRecorder }

// Eventf implements resourcelock.EventRecorder.
func (r leaseRecorder) Eventf(obj runtime.Object, eventType, reason, message string, args ...any) {
	r.EventRecorder.Eventf(obj, nil, eventType, reason, "Elect", message, args...)
}
