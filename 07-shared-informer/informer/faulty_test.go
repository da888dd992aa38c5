// Informers with a bug each. The model has to find all of them.

package informer

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

type notification = processor.Notification

// A faultyFanout does not distribute what it is given.
type faultyFanout struct {
	processor.Fanout
	distribute func(n int, next notification) []notification // of the n-th
	n          int
}

func (f *faultyFanout) Distribute(n notification) {
	if n.Kind > processor.Deleted { // the mark of the sync
		f.Fanout.Distribute(n)
		return
	}
	f.n++
	for _, n := range f.distribute(f.n, n) {
		f.Fanout.Distribute(n)
	}
}

// A faultyStart is an informer whose handlers begin with something else than what
// is stored.
type faultyStart struct {
	*Informer
	begin func([]notification) []notification
}

func (f faultyStart) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	_ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	f.blockDeltas.Lock()
	defer f.blockDeltas.Unlock()
	first := f.begin(slices.Collect(present(f.indexer.Snapshot())))
	return f.processor.Add(handler, processor.Options{Present: slices.Values(first)})
}

// A hesitant informer keeps the first object of an initial list back until the
// next call.
type hesitant struct{ *Informer }

func (h hesitant) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	var kept any
	return h.Informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if kept == nil && initial {
				kept = obj
				return
			}
			handler.OnAdd(obj, initial)
		},
		UpdateFunc: func(old, obj any) {
			if kept != nil {
				handler.OnAdd(kept, true)
			}
			handler.OnUpdate(old, obj)
		},
		DeleteFunc: handler.OnDelete,
	}, options)
}

// A faultyInformer removes a handler, and adds it again.
type faultyInformer struct {
	*Informer
	handlers map[cache.ResourceEventHandlerRegistration]cache.ResourceEventHandler
}

func (f faultyInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	registration, err := f.Informer.AddEventHandlerWithOptions(handler, options)
	f.handlers[registration] = handler
	return registration, err
}

func (f faultyInformer) RemoveEventHandler(registration cache.ResourceEventHandlerRegistration) error {
	_, err := f.AddEventHandler(f.handlers[registration])
	return errors.Join(err, f.Informer.RemoveEventHandler(registration))
}

// A lossyFanout folds each batch, and does not mend the old state.
type lossyFanout struct{ processor.Fanout }

func (l lossyFanout) Listen(folded func(int, int)) processor.Listener {
	return lossyListener{l.Fanout.Listen(folded)}
}

type lossyListener struct{ processor.Listener }

func (l lossyListener) Next() []notification {
	batch := l.Listener.Next()
	if n := len(batch); n > 2 && batch[0].Kind == processor.Updated && batch[1].Kind == processor.Updated &&
		batch[0].Key == batch[1].Key {
		return batch[1:]
	}
	return batch
}

// with returns a maker of informers that use this way to their handlers.
func with(fanout func() processor.Fanout) maker {
	return func(lw cache.ListerWatcher, example runtime.Object,
		options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		informer := New(lw, example, options)
		informer.processor = processor.New(fanout())
		return informer
	}
}

func distributing(change func(n int, next notification) []notification) maker {
	return with(func() processor.Fanout { return &faultyFanout{Fanout: processor.NewLog(), distribute: change} })
}

func beginning(change func([]notification) []notification) maker {
	return func(lw cache.ListerWatcher, example runtime.Object,
		options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return faultyStart{New(lw, example, options), change}
	}
}

// sometimes changes what is distributed, of one kind, each fifth time.
func sometimes(kind processor.Kind, change func(notification) []notification) maker {
	return distributing(func(n int, next notification) []notification {
		if n%5 != 0 || next.Kind != kind {
			return []notification{next}
		}
		return change(next)
	})
}

func TestTheModelFindsBugs(t *testing.T) {
	none := func(notification) []notification { return nil }
	twice := func(n notification) []notification { return []notification{n, n} }
	copied := func(obj any) any { return obj.(*corev1.ConfigMap).DeepCopy() }
	for name, newInformer := range map[string]maker{
		"an add is lost":       sometimes(processor.Added, none),
		"an update is lost":    sometimes(processor.Updated, none),
		"a delete is lost":     sometimes(processor.Deleted, none),
		"an add comes twice":   sometimes(processor.Added, twice),
		"a delete comes twice": sometimes(processor.Deleted, twice),
		"what is new is not so": sometimes(processor.Updated, func(n notification) []notification {
			n.New = n.Old
			return []notification{n}
		}),
		"what is old is not so": sometimes(processor.Updated, func(n notification) []notification {
			n.Old = n.New
			return []notification{n}
		}),
		"a state is made up": sometimes(processor.Updated, func(n notification) []notification {
			n.New = copied(n.New)
			return []notification{n}
		}),
		"an update is an add": sometimes(processor.Updated, func(n notification) []notification {
			n.Kind = processor.Added
			return []notification{n}
		}),
		"an add is initial": sometimes(processor.Added, func(n notification) []notification {
			n.Initial = true
			return []notification{n}
		}),
		"two change places": with(func() processor.Fanout {
			var kept []notification
			return &faultyFanout{Fanout: processor.NewLog(), distribute: func(n int, next notification) []notification {
				batch := append([]notification{next}, kept...)
				if kept = nil; n%9 == 0 {
					kept, batch = batch, nil
				}
				return batch
			}}
		}),
		"a late handler misses something": beginning(func(first []notification) []notification {
			if len(first) > 1 {
				return first[1:]
			}
			return first
		}),
		"a late handler gets something twice": beginning(func(first []notification) []notification {
			if len(first) > 1 {
				return append([]notification{first[0], first[0]}, first[1:]...)
			}
			return first
		}),
		"a handler syncs too early": func(lw cache.ListerWatcher, example runtime.Object,
			options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return hesitant{New(lw, example, options)}
		},
		"folded, and the old state is wrong": with(func() processor.Fanout { return lossyFanout{processor.NewLog()} }),
		"a removed handler is called": func(lw cache.ListerWatcher, example runtime.Object,
			options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return faultyInformer{New(lw, example, options),
				map[cache.ResourceEventHandlerRegistration]cache.ResourceEventHandler{}}
		},
	} {
		found := false
		for seed := uint64(0); seed < 200 && !found; seed++ {
			err := runScenario(t, scriptOf(seed, 200), newInformer, false)
			if found = err != nil; found {
				t.Logf("%s: found with seed %d: %.300v", name, seed, err)
			}
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}
