// Replicas in fake time, on a fake API server.

package notices

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/informer/scripts/harness/must"
)

// A cutLock is the lock of a replica whose connection can be cut. Then each request ends after 5
// seconds, as those of the client that newLease makes.
type cutLock struct {
	resourcelock.Interface
	cut     atomic.Bool
	renewed atomic.Pointer[time.Time] // the last time at which the API server has got a record
}

var errCut = errors.New("the connection is cut")

func newCutLock(client kubernetes.Interface, identity string) *cutLock {
	return &cutLock{Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "ns", Name: "notices"},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}}
}

func (l *cutLock) send(ctx context.Context) error {
	if !l.cut.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, renewDeadline/2)
	defer cancel()
	<-ctx.Done()
	return errCut
}

func (l *cutLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.send(ctx); err != nil {
		return nil, nil, err
	}
	return l.Interface.Get(ctx)
}

func (l *cutLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.send(ctx); err != nil {
		return err
	}
	l.renewed.Store(new(time.Now()))
	return l.Interface.Create(ctx, record)
}

func (l *cutLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.send(ctx); err != nil {
		return err
	}
	l.renewed.Store(new(time.Now()))
	return l.Interface.Update(ctx, record)
}

// A transport is the HTTP transport of a client.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// The limiter of the config lets no request pass. The requests for the Lease do not wait for it.
func TestTheLeaseHasARateLimitOfItsOwn(t *testing.T) {
	errSent := errors.New("the request was sent")
	config := &rest.Config{
		Transport:   transport(func(*http.Request) (*http.Response, error) { return nil, errSent }),
		RateLimiter: flowcontrol.NewFakeNeverRateLimiter(),
	}
	l, err := newLease(config, "ns", Options{Lease: "notices", Identity: "first"}, events.NewFakeRecorder(1))
	must.NoError(t, err)
	if _, _, err := l.Get(t.Context()); !errors.Is(err, errSent) {
		t.Errorf("reading the Lease returns %v, want %v", err, errSent)
	}
	if config.RateLimiter == nil {
		t.Error("the config of the caller has lost its limiter")
	}
}

// A replica holds a lease, or waits for it.
type replica struct {
	*lease
	lock    *cutLock
	started chan time.Time // when the work began
	ended   chan time.Time // when the work ended
}

// start starts a replica. Its work begins and ends with the context of hold, and goes on for
// another time after that.
func start(t *testing.T, client kubernetes.Interface, identity string, last time.Duration) (r *replica, stop func()) {
	lock := newCutLock(client, identity)
	r = &replica{
		lease:   &lease{Interface: lock, watchdog: leaderelection.NewLeaderHealthzAdaptor(leaseDuration)},
		lock:    lock,
		started: make(chan time.Time, 1),
		ended:   make(chan time.Time, 1),
	}
	stop = must.Run(t, func(ctx context.Context) {
		lost := false // the work ended, and nobody had stopped the replica
		err := r.hold(ctx, func(working context.Context) {
			r.started <- time.Now()
			<-working.Done()
			time.Sleep(last)
			lost = ctx.Err() == nil
			r.ended <- time.Now()
		})
		if errors.Is(err, errLeaseLost) != lost {
			t.Errorf("%s: hold returns %v; it has lost the Lease: %t", identity, err, lost)
		}
	})
	return r, stop
}

// With client-go's usual numbers, another replica takes over 15 seconds after the last renewal. If
// the leader wants to give the Lease back (ReleaseOnCancel) and is cut off, its context ends later.
func TestTheContextOfALeaderCanEndAfterItsLease(t *testing.T) {
	for _, test := range []struct {
		release bool
		want    time.Duration
	}{
		{release: false, want: 12 * time.Second},
		{release: true, want: 17 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			lock := newCutLock(fake.NewClientset(), "first")
			ended := make(chan time.Time, 1)
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
				ReleaseOnCancel: test.release,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) {
						<-ctx.Done()
						ended <- time.Now()
					},
					OnStoppedLeading: func() {},
				},
			})
			must.NoError(t, err)
			must.Run(t, elector.Run)
			time.Sleep(5 * time.Second) // between two renewals
			lock.cut.Store(true)
			if got := (<-ended).Sub(*lock.renewed.Load()); got != test.want {
				t.Errorf("ReleaseOnCancel %t: the context ended %v after the last renewal, want %v", test.release, got,
					test.want)
			}
		})
	}
}

// The Lease belongs to another replica for a day. In the first hour, this replica only looks at it.
func TestHowOftenAWaitingReplicaLooksAtTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "notices"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity:       new("first"),
				LeaseDurationSeconds: new(int32(24 * 60 * 60)),
				RenewTime:            new(metav1.NowMicro()),
			},
		})
		var looked []time.Time
		client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			looked = append(looked, time.Now())
			return false, nil, nil
		})
		_, stop := start(t, client, "second", 0)
		time.Sleep(time.Hour)
		stop()
		shortest, longest := time.Hour, time.Duration(0)
		for i := range len(looked) - 1 {
			pause := looked[i+1].Sub(looked[i])
			shortest, longest = min(shortest, pause), max(longest, pause)
		}
		if shortest < 2*time.Second || shortest > 3*time.Second {
			t.Errorf("the shortest of %d pauses is %v, want a little more than 2s", len(looked), shortest)
		}
		if longest < 4*time.Second || longest > 4400*time.Millisecond {
			t.Errorf("the longest of %d pauses is %v, want a little less than 4.4s", len(looked), longest)
		}
	})
}

// The first replica is cut off. Its writes end before the second replica begins to work.
func TestWritesEndBeforeAnotherReplicaWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		first, _ := start(t, client, "first", 0)
		<-first.started
		second, _ := start(t, client, "second", 0)
		// As long as the Lease is renewed, a key has enough time. The cut comes between two renewals.
		for range 105 {
			time.Sleep(100 * time.Millisecond)
			if left := time.Until(first.deadline()); left < renewDeadline-retryPeriod {
				t.Fatalf("a write has %v, want at least %v", left, renewDeadline-retryPeriod)
			}
		}
		first.lock.cut.Store(true)
		renewed := *first.lock.renewed.Load()
		<-first.ended
		began := <-second.started
		if got := first.deadline().Sub(renewed); got != renewDeadline {
			t.Errorf("the writes of the first replica end %v after the last renewal, want %v", got, renewDeadline)
		}
		if got := began.Sub(renewed); got < leaseDuration {
			t.Errorf("the second replica works %v after the last renewal, want %v at least", got, leaseDuration)
		}
	})
}

// The context of the first replica ends, and its last work takes another 5 seconds. It keeps the
// Lease until then. Then it gives it back, and the second replica need not wait until the Lease has
// expired.
func TestTheLeaseIsGivenBackAfterTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		first, stop := start(t, client, "first", 5*time.Second)
		<-first.started
		second, _ := start(t, client, "second", 0)
		time.Sleep(10 * time.Second)
		stop()
		ended, began := <-first.ended, <-second.started
		if waited := began.Sub(ended); waited < 0 || waited > 3*retryPeriod {
			t.Errorf("the second replica works %v after the end of the first, want 0 to %v", waited, 3*retryPeriod)
		}
		if left := time.Until(first.deadline()); left > 0 {
			t.Errorf("the first replica has given the Lease back, and may still write for %v", left)
		}
	})
}

// A replica that has never held the Lease ends with its context. It returns no error, and does not
// take the Lease away.
func TestAReplicaThatHasNeverLed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		first, _ := start(t, client, "first", 0)
		<-first.started
		second, stop := start(t, client, "second", 0)
		time.Sleep(time.Minute)
		stop()
		if len(second.started) > 0 {
			t.Error("the second replica has worked beside the first one")
		}
		if time.Until(first.deadline()) <= 0 {
			t.Error("the first replica may not write any more")
		}
	})
}
