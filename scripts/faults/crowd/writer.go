// The changes: objects are made, changed, deleted, and made again at once.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// writersPerNamespace share its objects among them: each object has one. They
// are many, so that a change may take long when all cores are busy.
const writersPerNamespace = 64

// writeTimeout is far more than a change takes, and less than forever.
const writeTimeout = 30 * time.Second

// A churn makes changes between start and stop. A change that fails ends it:
// there are no faults here.
type churn struct {
	writers []*writer
	made    atomic.Int64
	writing sync.WaitGroup
	stop    func() error
}

type writer struct {
	pods    corev1.PodInterface
	objects []*history
	random  *rand.Rand
	made    *atomic.Int64
}

// add has the objects of a namespace changed, too.
func (c *churn) add(client kubernetes.Interface, namespace string, objects []*history) {
	writers := make([]*writer, min(writersPerNamespace, len(objects)))
	for i := range writers {
		writers[i] = &writer{client.CoreV1().Pods(namespace), nil, rand.New(rand.NewPCG(1, uint64(len(c.writers)+i))), &c.made}
	}
	for i, object := range objects {
		w := writers[i%len(writers)]
		w.objects = append(w.objects, object)
	}
	c.writers = append(c.writers, writers...)
}

// fill creates all objects.
func (c *churn) fill(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, w := range c.writers {
		c.writing.Go(func() {
			for _, object := range w.objects {
				if err := w.create(ctx, object); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	c.writing.Wait()
	return context.Cause(ctx)
}

// start makes so many changes a second, if the server keeps up, until ctx ends
// or one cannot be made: then amid ends, too. stop returns when none is under
// way, and says why one could not be made.
func (c *churn) start(ctx context.Context, rate int) (amid context.Context) {
	amid, cancel := context.WithCancelCause(ctx)
	pause := time.Second * time.Duration(len(c.writers)) / time.Duration(rate)
	for _, w := range c.writers {
		c.writing.Go(func() {
			if err := w.run(amid, pause); err != nil {
				cancel(err)
			}
		})
	}
	stopped := errors.New("stopped")
	c.stop = func() error {
		cancel(stopped)
		c.writing.Wait()
		if err := context.Cause(amid); !errors.Is(err, stopped) {
			return err
		}
		return nil
	}
	return amid
}

func (w *writer) run(ctx context.Context, pause time.Duration) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			// What was begun is finished: nobody would know whether it was done.
			if err := w.change(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
	}
}

// change makes one change, or two where something is replaced.
func (w *writer) change(ctx context.Context) error {
	object := w.objects[w.random.IntN(len(w.objects))]
	dice := w.random.IntN(10)
	switch {
	case object.states[len(object.states)-1].change == 0: // only this goroutine changes it
		return w.create(ctx, object)
	case dice == 0:
		return w.remove(ctx, object)
	case dice == 1:
		if err := w.remove(ctx, object); err != nil {
			return err
		}
		return w.create(ctx, object)
	}
	return w.update(ctx, object)
}

// next is the number of the change to come; no number is used twice, whatever
// was deleted meanwhile.
func next(object *history) int {
	change := 1
	for _, s := range object.states {
		change = max(change, s.change+1)
	}
	return change
}

func (w *writer) create(ctx context.Context, object *history) error {
	change := next(object)
	return w.do(ctx, object, state{change: change, phase: pending, app: appOf(object.name, change)}, func(ctx context.Context) error {
		_, err := w.pods.Create(ctx, newPod(object.name, change), metav1.CreateOptions{})
		return err
	})
}

// update changes labels, annotations and phase in one go: whoever may write a
// pod's status may write all of these.
func (w *writer) update(ctx context.Context, object *history) error {
	change := next(object)
	patch, err := json.Marshal(map[string]any{"metadata": metaOf(object.name, change), "status": map[string]string{"phase": phaseOf(change)}})
	if err != nil {
		return err
	}
	return w.do(ctx, object, state{change: change, phase: phaseOf(change), app: appOf(object.name, change)}, func(ctx context.Context) error {
		_, err := w.pods.Patch(ctx, object.name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

func (w *writer) remove(ctx context.Context, object *history) error {
	now := int64(0)
	return w.do(ctx, object, state{}, func(ctx context.Context) error {
		return w.pods.Delete(ctx, object.name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
}

// do makes a change that leads to a state.
func (w *writer) do(ctx context.Context, object *history, to state, change func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	object.begin(to)
	if err := change(ctx); err != nil {
		return fmt.Errorf("writing %s, %v: %w", object.name, to, err)
	}
	object.confirm()
	w.made.Add(1)
	return nil
}
