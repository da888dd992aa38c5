// Replicas in fake time, on a fake API server.

package notices

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/ptr"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
)

var leases = coordinationv1.SchemeGroupVersion.WithResource("leases")

// newVersionedClient returns a fake client whose Leases have versions: an update of an old version is
// a conflict, as on an API server. By default a fake client keeps no versions.
func newVersionedClient() *fake.Clientset {
	client := fake.NewClientset()
	version := 0
	next := func(obj runtime.Object) *coordinationv1.Lease {
		version++
		l := obj.DeepCopyObject().(*coordinationv1.Lease)
		l.ResourceVersion = strconv.Itoa(version)
		return l
	}
	client.PrependReactor("create", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		l := next(action.(clienttesting.CreateAction).GetObject())
		return true, l, client.Tracker().Create(leases, l, "ns")
	})
	client.PrependReactor("update", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		l := next(action.(clienttesting.UpdateAction).GetObject())
		obj, err := client.Tracker().Get(leases, "ns", l.Name)
		if err != nil {
			return true, nil, err
		}
		sent := action.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease).ResourceVersion
		if sent != obj.(*coordinationv1.Lease).ResourceVersion {
			return true, nil, apierrors.NewConflict(leases.GroupResource(), l.Name, errors.New("too late"))
		}
		return true, l, client.Tracker().Update(leases, l, "ns")
	})
	return client
}

// A cutLock is the lock of a replica whose connection can be cut. Then each request ends after 5
// seconds, as those of the client that newLease makes.
type cutLock struct {
	resourcelock.Interface
	client  *fake.Clientset
	cut     atomic.Bool
	renewed atomic.Pointer[time.Time] // the last time at which the API server has received a record
	holds   atomic.Bool               // the replica held the Lease when the API server gave it the last answer
}

var errCut = errors.New("the connection is cut")

func newCutLock(client *fake.Clientset, identity string) *cutLock {
	return &cutLock{client: client, Interface: &resourcelock.LeaseLock{
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

func (l *cutLock) answered() {
	obj, err := l.client.Tracker().Get(leases, "ns", "notices")
	l.holds.Store(err == nil && ptr.Deref(obj.(*coordinationv1.Lease).Spec.HolderIdentity, "") == l.Identity())
}

func (l *cutLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.send(ctx); err != nil {
		return nil, nil, err
	}
	defer l.answered()
	return l.Interface.Get(ctx)
}

func (l *cutLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.send(ctx); err != nil {
		return err
	}
	defer l.answered()
	l.renewed.Store(new(time.Now()))
	return l.Interface.Create(ctx, record)
}

func (l *cutLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.send(ctx); err != nil {
		return err
	}
	defer l.answered()
	l.renewed.Store(new(time.Now()))
	return l.Interface.Update(ctx, record)
}

// The limiter of the config lets no request pass. The requests for the Lease do not wait for it.
func TestTheLeaseHasARateLimitOfItsOwn(t *testing.T) {
	errSent := errors.New("the request was sent")
	config := &rest.Config{
		Transport:   fault.RoundTripper(func(*http.Request) (*http.Response, error) { return nil, errSent }),
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
func start(t *testing.T, client *fake.Clientset, identity string, last time.Duration) (r *replica, stop func()) {
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

// left returns how long a write that begins now may take.
func (r *replica) left() time.Duration {
	writing, cancel := r.writing()
	defer cancel()
	if writing.Err() != nil {
		return 0
	}
	deadline, _ := writing.Deadline()
	return time.Until(deadline)
}

// With client-go's usual numbers, another replica takes over 15 seconds after the last renewal. If
// the leader wants to give the Lease back (ReleaseOnCancel) and is cut off, its context ends later. If
// somebody else gets the Lease a second after the last renewal, the context goes on for 11 seconds.
func TestTheContextOfALeaderCanEndAfterItsLease(t *testing.T) {
	for _, test := range []struct {
		name    string
		release bool
		happens func(*cutLock)
		want    time.Duration
	}{
		{name: "cut off", happens: (*cutLock).pull, want: 12 * time.Second},
		{name: "cut off, ReleaseOnCancel", release: true, happens: (*cutLock).pull, want: 17 * time.Second},
		{name: "another holder", happens: (*cutLock).giveAway, want: 12 * time.Second},
		{name: "another holder, ReleaseOnCancel", release: true, happens: (*cutLock).giveAway, want: 12 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			lock := newCutLock(newVersionedClient(), "first")
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
			renewed := *lock.renewed.Load()
			test.happens(lock)
			if got := (<-ended).Sub(renewed); got != test.want {
				t.Errorf("%s: the context ended %v after the last renewal, want %v", test.name, got, test.want)
			}
		})
	}
}

func (l *cutLock) pull() { l.cut.Store(true) }

// giveAway edits the Lease: it has another holder.
func (l *cutLock) giveAway() { edit(l.client, "a stranger") }

// edit gives the Lease another holder, as somebody else does.
func edit(client *fake.Clientset, holder string) {
	ctx := context.Background()
	l, err := client.CoordinationV1().Leases("ns").Get(ctx, "notices", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	l.Spec.HolderIdentity, l.Spec.RenewTime = &holder, new(metav1.NowMicro())
	_, _ = client.CoordinationV1().Leases("ns").Update(ctx, l, metav1.UpdateOptions{})
}

// remove deletes the Lease, as somebody else does.
func remove(client *fake.Clientset) {
	_ = client.CoordinationV1().Leases("ns").Delete(context.Background(), "notices", metav1.DeleteOptions{})
}

// Somebody else changes the Lease. A replica that has seen this begins no write until it holds the
// Lease again, even in a Reconcile that has begun before. As long as it has not looked, which it does
// every 2 seconds, both replicas may write.
func TestNoWriteBeginsWithoutTheLease(t *testing.T) {
	for name, happens := range map[string]func(*fake.Clientset){
		"another holder": func(client *fake.Clientset) { edit(client, "a stranger") },
		"no holder":      func(client *fake.Clientset) { edit(client, "") },
		"deleted":        remove,
		"deleted again and again": func(client *fake.Clientset) {
			for range 10 {
				remove(client)
				time.Sleep(3 * time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // each time, the second replica looks at the Lease at other times
				synctest.Test(t, func(t *testing.T) { wantOneWriter(t, happens) })
			}
		})
	}
}

// wantOneWriter runs two replicas that always write. After ten seconds, something happens to the Lease.
func wantOneWriter(t *testing.T, happens func(*fake.Clientset)) {
	client := newVersionedClient()
	var mu sync.Mutex
	wrote := map[string]map[int64]bool{"first": {}, "second": {}} // the tenths of a second with a write
	run := func(identity string) {
		lock := newCutLock(client, identity)
		l := &lease{Interface: lock, watchdog: leaderelection.NewLeaderHealthzAdaptor(leaseDuration)}
		write := func() {
			if !lock.holds.Load() {
				t.Errorf("the %s replica begins a write, and has seen that it does not hold the Lease", identity)
			}
			mu.Lock()
			defer mu.Unlock()
			wrote[identity][time.Now().UnixMilli()/100] = true
		}
		must.Run(t, func(ctx context.Context) {
			_ = l.hold(ctx, func(working context.Context) {
				time.Sleep(50 * time.Millisecond) // no write at the time of a renewal
				for working.Err() == nil && !t.Failed() {
					writing, cancel := l.writing()
					for range 30 { // as many writes as a long Reconcile has
						if writing.Err() == nil && !t.Failed() {
							write()
						}
						time.Sleep(100 * time.Millisecond)
					}
					cancel()
				}
				<-working.Done()
			})
		})
	}
	run("first")
	time.Sleep(time.Second)
	run("second")
	began := time.Now().UnixMilli() / 100
	time.Sleep(9500 * time.Millisecond)
	happens(client)
	time.Sleep(40 * time.Second)
	mu.Lock()
	defer mu.Unlock()
	both, last := 0, int64(0)
	for at := began; at < time.Now().UnixMilli()/100; at++ {
		if wrote["first"][at] || wrote["second"][at] {
			last = at
		}
		if !wrote["first"][at] || !wrote["second"][at] {
			both = 0
			continue
		}
		if both++; both > int(retryPeriod/(100*time.Millisecond)) {
			t.Fatalf("both replicas have written for more than %v", retryPeriod)
		}
	}
	if quiet := time.Now().UnixMilli()/100 - last; quiet > 2 {
		t.Errorf("in the end, nobody has written for %d tenths of a second", quiet)
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
			if left := first.left(); left < renewDeadline-retryPeriod {
				t.Fatalf("a write has %v, want at least %v", left, renewDeadline-retryPeriod)
			}
		}
		first.lock.cut.Store(true)
		renewed := *first.lock.renewed.Load()
		writing, cancel := first.writing()
		defer cancel()
		<-writing.Done()
		if got := time.Since(renewed); got != renewDeadline {
			t.Errorf("the writes of the first replica end %v after the last renewal, want %v", got, renewDeadline)
		}
		<-first.ended
		began := <-second.started
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
		if left := first.left(); left > 0 {
			t.Errorf("the first replica has given the Lease back, and may still write for %v", left)
		}
	})
}

// A notice wants two copies. The Lease is lost when the first of them is created, and the same
// Reconcile does not send the second create.
func TestALostLeaseEndsAReconcile(t *testing.T) {
	f := newFixture()
	must.NoError(t, unstructured.SetNestedField(f.picnic.Object, int64(2), "spec", "copies"))
	must.NoError(t, f.Notices.Add(f.picnic))

	lock := newCutLock(newVersionedClient(), "first")
	l := &lease{Interface: lock}
	must.NoError(t, l.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "first"}))
	creates := 0
	var err error
	f.Client, err = kubernetes.NewForConfig(&rest.Config{
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
		Transport: fault.RoundTripper(func(request *http.Request) (*http.Response, error) {
			creates++
			lock.giveAway()
			_, _, err := l.Get(t.Context()) // as the election does
			must.NoError(t, err)
			return fault.Respond(request, http.StatusCreated, request.Body), nil
		}),
	})
	must.NoError(t, err)
	c := newController(f.Reconciler)
	defer c.queue.ShutDown()
	c.lease = l
	c.queue.Add("ns/picnic")
	c.processNext(t.Context())
	if creates != 1 {
		t.Errorf("there were %d creates, want 1: the one at which the Lease was lost", creates)
	}
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
		if first.left() <= 0 {
			t.Error("the first replica may not write any more")
		}
	})
}
