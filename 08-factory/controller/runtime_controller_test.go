// Claims of the pages about the controllers of controller-runtime: retries, and leader election.

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"example.com/informer/scripts/harness/must"
)

// runController runs a controller without a manager until the test is over, or stop is called.
func runController(t *testing.T, options controller.TypedOptions[string], keys ...string) (stop func()) {
	t.Helper()
	options.SkipNameValidation = new(true)
	c, err := controller.NewTypedUnmanaged("test", options)
	must.NoError(t, err)
	must.NoError(t, c.Watch(source.TypedFunc[string](
		func(_ context.Context, queue workqueue.TypedRateLimitingInterface[string]) error {
			for _, key := range keys {
				queue.Add(key)
			}
			return nil
		})))
	return must.Run(t, func(ctx context.Context) {
		if err := c.Start(ctx); err != nil {
			t.Errorf("the controller ends with %v, want nil", err)
		}
	})
}

// client-go's default would give longer pauses to all keys after the first hundred.
func TestControllerRuntimeLimitsEachKeyByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiters := make(chan workqueue.TypedRateLimiter[string], 1)
		runController(t, controller.TypedOptions[string]{
			Reconciler: reconcile.TypedFunc[string](nil),
			NewQueue: func(_ string, limiter workqueue.TypedRateLimiter[string],
			) workqueue.TypedRateLimitingInterface[string] {
				limiters <- limiter
				return workqueue.NewTypedRateLimitingQueue(limiter)
			},
		})
		limiter := <-limiters
		for i := range 1000 {
			if pause := limiter.When(fmt.Sprint(i)); pause != 5*time.Millisecond {
				t.Fatalf("key %d has a pause of %v, want 5ms", i, pause)
			}
		}
		for range 30 {
			limiter.When("key")
		}
		if longest := limiter.When("key"); longest != 1000*time.Second {
			t.Errorf("the longest pause is %v, want 1000s", longest)
		}
	})
}

func TestATerminalErrorIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := map[string]int{}
		stop := runController(t, controller.TypedOptions[string]{
			Reconciler: reconcile.TypedFunc[string](func(_ context.Context, key string) (reconcile.Result, error) {
				calls[key]++
				err := errors.New("out of luck")
				if key == "terminal" {
					err = fmt.Errorf("giving up: %w", reconcile.TerminalError(err))
				}
				return reconcile.Result{}, err
			}),
		}, "terminal", "other")
		time.Sleep(time.Hour) // of the bubble's time
		stop()
		if calls["terminal"] != 1 || calls["other"] < 2 {
			t.Errorf("calls of the reconciler for each key: %v, want 1 for terminal, and retries for other", calls)
		}
	})
}

// The Lease belongs to somebody else. With EnableWarmup, the controller fills its caches anyway.
func TestAControllerThatWaitsForTheLease(t *testing.T) {
	for _, test := range []struct {
		warmup bool
		want   int // informers
	}{{warmup: false, want: 0}, {warmup: true, want: 1}} {
		t.Run(fmt.Sprint("warmup ", test.warmup), func(t *testing.T) {
			leases := fake.NewClientset(&coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "test"},
				Spec: coordinationv1.LeaseSpec{
					HolderIdentity:       new("other"),
					LeaseDurationSeconds: new(int32(24 * 60 * 60)),
					RenewTime:            new(metav1.NowMicro()),
				},
			})
			asked := make(chan struct{}, 1) // somebody has looked at the Lease
			leases.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				select {
				case asked <- struct{}{}:
				default:
				}
				return false, nil, nil
			})
			m := newManager(t, ctrlcache.Options{}, func(o *manager.Options) {
				o.LeaderElection, o.LeaderElectionID = true, "test"
				o.LeaderElectionResourceLockInterface = &resourcelock.LeaseLock{
					LeaseMeta:  metav1.ObjectMeta{Namespace: "ns", Name: "test"},
					Client:     leases.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
				}
				o.RetryPeriod = new(10 * time.Millisecond)
				o.Controller.EnableWarmup = &test.warmup
			})
			m.create(t, "a", nil)
			must.NoError(t, builder.ControllerManagedBy(m).Named("test").For(&corev1.Secret{}).Complete(
				reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					t.Error("the reconciler was called, want no call without the Lease")
					return reconcile.Result{}, nil
				})))
			stop := must.Run(t, func(ctx context.Context) {
				if err := m.Start(ctx); err != nil {
					t.Errorf("the manager ends with %v, want nil", err)
				}
			})
			<-asked
			<-asked
			if test.want > 0 {
				must.Until(t, "the informer watches", m.requests.Watching)
			}
			stop()
			if got := len(m.made); got != test.want {
				t.Errorf("the manager has made %d informers without the Lease, want %d", got, test.want)
			}
		})
	}
}
