// What the lock of a queue guards, and which goroutines are woken.

package deltafifo_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

// numberKey is a key function for numbers.
func numberKey(obj any) (string, error) { return fmt.Sprint(obj), nil }

// tryPop pops the deltas of one key. It returns the error of Pop.
func tryPop(q *deltafifo.Queue) (popped cache.Deltas, err error) {
	err = q.Pop(func(deltas cache.Deltas, _ bool) error {
		popped = deltas
		return nil
	})
	return popped, err
}

// Replace queues both objects before it gives the lock back. So both consumers have to be woken
// before the first of them can run.
func TestEachConsumerThatWaitsGetsAnObjectOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{KeyFunction: numberKey})
		popped := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := tryPop(q)
				popped <- err
			}()
		}
		synctest.Wait() // both wait
		must.NoError(t, q.Replace([]any{1, 2}, ""))
		synctest.Wait()
		if len(popped) != 2 {
			t.Errorf("%d of 2 consumers got an object of a list of 2, want 2; waiting: %v", len(popped), q.List())
		}
		q.Close() // so that a consumer that waits returns
	})
}

// Add and Close come before the consumer that they wake can run. What was queued before Close is
// not lost.
func TestAConsumerThatIsWokenTwiceGetsTheObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 { // now and then, the consumer runs between the two
			q := deltafifo.New(deltafifo.Options{KeyFunction: numberKey})
			result := make(chan error, 1)
			go func() {
				_, err := tryPop(q)
				result <- err
			}()
			synctest.Wait() // the consumer waits
			must.NoError(t, q.Add(1))
			q.Close()
			if err := <-result; err != nil {
				t.Fatalf("Pop() = %v after Add and Close, want nil", err)
			}
		}
	})
}

// A consumer that waits for the first object of a list gets it when all objects are queued.
func TestNothingComesBetweenTheObjectsOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 100_000 // without the lock, a consumer would certainly get one of them earlier
		list := make([]any, many)
		for i := range list {
			list[i] = i
		}
		q := deltafifo.New(deltafifo.Options{KeyFunction: numberKey})
		waiting := make(chan int, 1)
		go func() {
			_, _ = tryPop(q)
			waiting <- len(q.List())
		}()
		synctest.Wait() // the consumer waits
		must.NoError(t, q.Replace(list, ""))
		if got := <-waiting; got != many-1 {
			t.Errorf("%d objects wait after the first Pop, want the rest of the list: %d", got, many-1)
		}
	})
}

// Without the lock, Close could come after Pop has looked at closed, and before it waits. Nobody
// would wake this Pop.
func TestCloseTakesTheLock(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: numberKey})
	must.NoError(t, q.Add(1))
	closed := make(chan struct{})
	err := q.Pop(func(cache.Deltas, bool) error { // Pop has the lock
		go func() {
			defer close(closed)
			q.Close()
		}()
		for range 10_000 {
			runtime.Gosched() // Close runs, up to the lock
			select {
			case <-closed:
				t.Error("Close has returned while Pop held the lock, want it to wait")
				return nil
			default:
			}
		}
		return nil
	})
	must.NoError(t, err)
	<-closed
}

// A consumer may recover from a panic of process.
func TestPopGivesTheLockBackIfProcessPanics(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: numberKey})
	must.NoError(t, q.Add(1))
	func() {
		defer func() { _ = recover() }()
		_ = q.Pop(func(cache.Deltas, bool) error { panic("no") })
	}()
	if q.Locked() {
		t.Error("Locked() = true after a panic of process, want false")
	}
}
