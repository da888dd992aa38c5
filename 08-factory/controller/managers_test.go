// How a manager of controller-runtime starts, and how it ends: its defaults, and the order.

package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A fakeLock is a Lease without a server.
type fakeLock struct {
	mu     sync.Mutex
	record *resourcelock.LeaderElectionRecord
	fails  bool        // whether each request fails
	writes []time.Time // of the requests that did not fail
}

func (l *fakeLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fails:
		return nil, nil, errors.New("the server is away")
	case l.record == nil:
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{}, "lease")
	}
	return l.record, []byte(l.record.HolderIdentity + l.record.RenewTime.String()), nil
}

func (l *fakeLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, r)
}

func (l *fakeLock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails {
		return errors.New("the server is away")
	}
	l.record, l.writes = &r, append(l.writes, time.Now())
	return nil
}

func (l *fakeLock) RecordEvent(string) {}
func (l *fakeLock) Identity() string   { return "me" }
func (l *fakeLock) Describe() string   { return "a fake" }

func (l *fakeLock) setFails() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = true
}

// A fakeCache has no informers. It has synced when its channel is closed.
type fakeCache struct {
	ctrlcache.Cache
	started func()
	synced  chan struct{}
}

func (c *fakeCache) Start(ctx context.Context) error {
	c.started()
	<-ctx.Done()
	return nil
}

func (c *fakeCache) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-c.synced:
		return true
	case <-ctx.Done():
		return false
	}
}

// A fakeWebhooks is a server of webhooks that serves nothing.
type fakeWebhooks struct {
	webhook.Server
	started func()
}

func (w *fakeWebhooks) NeedLeaderElection() bool { return false }

func (w *fakeWebhooks) Start(ctx context.Context) error {
	w.started()
	<-ctx.Done()
	return nil
}

// A started notes which parts of a manager have been started.
type started struct {
	mu    sync.Mutex
	parts []string
}

func (s *started) note(part string) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parts = append(s.parts, part)
	}
}

// want waits until nothing moves any more, and then compares.
func (s *started) want(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.parts)
	if !slices.Equal(s.parts, want) {
		t.Errorf("%s: started %q, want %q", when, s.parts, want)
	}
	s.parts = nil
}

// fakeManager returns a manager that sends no request, for fake time.
func fakeManager(t *testing.T, lock *fakeLock, s *started) (m manager.Manager, synced chan struct{}) {
	t.Helper()
	synced = make(chan struct{})
	options := manager.Options{
		NewCache: func(*rest.Config, ctrlcache.Options) (ctrlcache.Cache, error) {
			return &fakeCache{started: s.note("the cache"), synced: synced}, nil
		},
		WebhookServer: &fakeWebhooks{started: s.note("the webhooks")},
		Metrics:       server.Options{BindAddress: "0"},
		Controller:    config.Controller{SkipNameValidation: ptr.To(true)},
	}
	if lock != nil {
		options.LeaderElection, options.LeaderElectionResourceLockInterface = true, lock
	}
	m, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, options)
	must.NoError(t, err)
	m.GetWebhookServer() // it adds the server to the manager
	return m, synced
}

// start runs the manager, and returns the error of Start in a channel.
func start(t *testing.T, m manager.Manager) (<-chan error, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return ended, cancel
}

func TestTheDefaultTimesOfAManagersLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lock fakeLock
		m, synced := fakeManager(t, &lock, &started{})
		close(synced)
		ended, cancel := start(t, m)
		defer cancel()
		<-m.Elected()
		time.Sleep(time.Minute)
		lock.setFails()
		err := <-ended
		last := len(lock.writes) - 1
		if err == nil || err.Error() != "leader election lost" {
			t.Errorf("Start() = %v, want %q", err, "leader election lost")
		}
		if took := time.Since(lock.writes[last]).Round(time.Second); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("Start() returned %v after the last renewal, want 10 s after the next try", took)
		}
		if period := lock.writes[last].Sub(lock.writes[last-1]); period.Round(time.Second) != 2*time.Second {
			t.Errorf("the manager renews its Lease every %v, want every 2s", period)
		}
		if seconds := lock.record.LeaseDurationSeconds; seconds != 15 {
			t.Errorf("the Lease is for %d seconds, want 15", seconds)
		}
	})
}

// A runnable is a part of a manager that runs on each replica, or only on the leader.
type runnable struct {
	started func()
	leader  bool
}

func (r runnable) NeedLeaderElection() bool { return r.leader }

func (r runnable) Start(ctx context.Context) error {
	r.started()
	<-ctx.Done()
	return nil
}

func TestTheOrderInWhichAManagerStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s started
		lock := fakeLock{record: &resourcelock.LeaderElectionRecord{
			HolderIdentity: "another", LeaseDurationSeconds: 15, RenewTime: metav1.Now()}}
		m, synced := fakeManager(t, &lock, &s)
		must.NoError(t, m.Add(runnable{s.note("for the leader"), true}))
		must.NoError(t, m.Add(runnable{s.note("for each replica"), false}))
		begin := time.Now()
		ended, cancel := start(t, m)
		s.want(t, "before the cache has synced", "the cache", "the webhooks")
		close(synced)
		s.want(t, "after that, on a standby", "for each replica")
		<-m.Elected() // the other replica has not renewed its Lease
		if took := time.Since(begin).Round(time.Second); took < 15*time.Second || took > 20*time.Second {
			t.Errorf("the standby leads after %v, want soon after the 15s of the other's Lease", took)
		}
		s.want(t, "after the election", "for the leader")
		cancel()
		must.NoError(t, <-ended)
	})
}

// A neverSyncs is a source of events whose cache never syncs.
type neverSyncs struct{}

func (neverSyncs) Start(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	return nil
}

func (neverSyncs) WaitForSync(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestHowLongAControllerWaitsForItsCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, synced := fakeManager(t, nil, &started{})
		close(synced)
		c, err := controller.New("test", m, controller.Options{Reconciler: reconcile.Func(nil)})
		must.NoError(t, err)
		must.NoError(t, c.Watch(neverSyncs{}))
		begin := time.Now()
		ended, cancel := start(t, m)
		defer cancel()
		wantError(t, <-ended, "failed to wait for test caches to sync")
		if took := time.Since(begin).Round(time.Second); took != 2*time.Minute {
			t.Errorf("Start() of the manager returned after %v, want 2m0s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) { // client-go has no limit of its own
		stop := make(chan struct{})
		time.AfterFunc(time.Hour, func() { close(stop) })
		begin := time.Now()
		synced := cache.WaitForCacheSync(stop, func() bool { return false })
		if took := time.Since(begin).Round(time.Minute); synced || took != time.Hour {
			t.Errorf("WaitForCacheSync() = %t after %v, want false after 1h, when its channel is closed", synced, took)
		}
	})
}

// A cache that has the metadata of secrets makes a second informer when it is asked for a Secret.
func TestMetadataAndObjectsAreTwoInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
		server, made := fakeapi.New(), 0
		c, err := ctrlcache.New(&rest.Config{Host: "http://127.0.0.1:1"}, ctrlcache.Options{
			Mapper: mapper,
			NewInformer: func(_ cache.ListerWatcher, example runtime.Object, _ time.Duration, _ cache.Indexers,
			) cache.SharedIndexInformer {
				made++
				return informer.New(server, example, cache.SharedIndexInformerOptions{})
			},
		})
		must.NoError(t, err)
		must.Run(t, func(ctx context.Context) { _ = c.Start(ctx) })
		synctest.Wait() // the cache has started
		metadata := &metav1.PartialObjectMetadataList{}
		metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
		for range 2 {
			must.NoError(t, c.List(t.Context(), metadata))
			must.NoError(t, c.List(t.Context(), &corev1.SecretList{}))
		}
		if made != 2 {
			t.Errorf("the cache has made %d informers, want 2", made)
		}
		server.NextWatch()
		server.NextWatch() // a watch for each
	})
}
