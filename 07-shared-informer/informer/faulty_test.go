// Informers with planted bugs. The model test must find each bug.

package informer_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
	"example.com/informer/07-shared-informer/parttwo"
)

type notification = processor.Notification

// A bug changes the notifications of one handler. It returns the notifications that the handler
// gets instead of the nth.
type bug func(n int, next notification) []notification

// A faultyInformer plants a bug for each of its handlers. late says that the handler was added
// after the sync.
type faultyInformer struct {
	*informer.Informer
	plant func(late bool) bug
}

func (f faultyInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	count := 0
	change := f.plant(f.HasSynced())
	deliver := func(original notification) {
		count++
		for _, n := range change(count, original) {
			switch n.Kind {
			case processor.Added:
				handler.OnAdd(n.New, n.Initial)
			case processor.Updated:
				handler.OnUpdate(n.Old, n.New)
			case processor.Deleted:
				handler.OnDelete(n.New)
			}
		}
	}
	return f.Informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			deliver(notification{Kind: processor.Added, New: obj, Initial: initial})
		},
		UpdateFunc: func(old, obj any) { deliver(notification{Kind: processor.Updated, Old: old, New: obj}) },
		DeleteFunc: func(obj any) { deliver(notification{Kind: processor.Deleted, New: obj}) },
	}, options)
}

// A clingingInformer adds each handler again that is removed.
type clingingInformer struct {
	*informer.Informer
	handlers map[cache.ResourceEventHandlerRegistration]cache.ResourceEventHandler
}

func (f clingingInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	registration, err := f.Informer.AddEventHandlerWithOptions(handler, options)
	f.handlers[registration] = handler
	return registration, err
}

func (f clingingInformer) RemoveEventHandler(registration cache.ResourceEventHandlerRegistration) error {
	_, err := f.AddEventHandler(f.handlers[registration])
	return errors.Join(err, f.Informer.RemoveEventHandler(registration))
}

// A lossyFanout drops the first of two updates of an object, and does not correct the old state of
// the second.
type lossyFanout struct{ processor.Fanout }

func (l lossyFanout) Listen(handler *processor.Registration) processor.Listener {
	return lossyListener{l.Fanout.Listen(handler)}
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

// A mutant makes a faulty informer. newInformer makes a correct one, of some parts.
type mutant func(newInformer ofParts) cache.SharedIndexInformer

type ofParts func(informer.Parts) *informer.Informer

// sometimes changes every fifth notification, if it is of one kind.
func sometimes(kind processor.Kind, change func(notification) []notification) mutant {
	return planted(func(bool) bug {
		return func(n int, next notification) []notification {
			if n%5 != 0 || next.Kind != kind {
				return []notification{next}
			}
			return change(next)
		}
	})
}

// first changes the first notification of a late handler.
func first(change func(notification) []notification) mutant {
	return planted(func(late bool) bug {
		return func(n int, next notification) []notification {
			if n != 1 || !late {
				return []notification{next}
			}
			return change(next)
		}
	})
}

func planted(plant func(late bool) bug) mutant {
	return func(newInformer ofParts) cache.SharedIndexInformer {
		return faultyInformer{newInformer(parttwo.Parts), plant}
	}
}

func TestTheModelFindsBugs(t *testing.T) {
	none := func(notification) []notification { return nil }
	twice := func(n notification) []notification { return []notification{n, n} }
	altered := func(alter func(*notification)) func(notification) []notification {
		return func(n notification) []notification {
			alter(&n)
			return []notification{n}
		}
	}
	for name, mutate := range map[string]mutant{
		"an add is lost":           sometimes(processor.Added, none),
		"an update is lost":        sometimes(processor.Updated, none),
		"a delete is lost":         sometimes(processor.Deleted, none),
		"an add comes twice":       sometimes(processor.Added, twice),
		"a delete comes twice":     sometimes(processor.Deleted, twice),
		"the new state is the old": sometimes(processor.Updated, altered(func(n *notification) { n.New = n.Old })),
		"the old state is the new": sometimes(processor.Updated, altered(func(n *notification) { n.Old = n.New })),
		"a state is made up": sometimes(processor.Updated, altered(func(n *notification) {
			n.New = n.New.(*corev1.ConfigMap).DeepCopy()
		})),
		"an update is an add": sometimes(processor.Updated, altered(func(n *notification) {
			n.Kind = processor.Added
		})),
		"an add is initial": sometimes(processor.Added, altered(func(n *notification) { n.Initial = true })),
		"two change places": planted(func(bool) bug {
			var kept []notification
			return func(n int, next notification) []notification {
				batch := append([]notification{next}, kept...)
				kept = nil
				if n%9 == 0 { // keep it back until the next one
					kept, batch = batch, nil
				}
				return batch
			}
		}),
		"a late handler misses something":     first(none),
		"a late handler gets something twice": first(twice),
		// It keeps the first object of an initial list back until the next update.
		"a handler syncs too early": planted(func(bool) bug {
			var kept []notification
			return func(n int, next notification) (batch []notification) {
				switch {
				case n == 1 && next.Initial:
					kept = []notification{next}
				case next.Kind == processor.Updated:
					batch, kept = append(kept, next), nil
				default:
					batch = []notification{next}
				}
				return batch
			}
		}),
		"folded, and the old state is wrong": func(newInformer ofParts) cache.SharedIndexInformer {
			parts := parttwo.Parts
			parts.Fanout = func() processor.Fanout { return lossyFanout{journal.New()} }
			return newInformer(parts)
		},
		"a removed handler is called": func(newInformer ofParts) cache.SharedIndexInformer {
			handlers := map[cache.ResourceEventHandlerRegistration]cache.ResourceEventHandler{}
			return clingingInformer{newInformer(parttwo.Parts), handlers}
		},
	} {
		faulty := func(lw cache.ListerWatcher, example runtime.Object,
			options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return mutate(func(parts informer.Parts) *informer.Informer {
				return informer.NewWithParts(lw, example, options, parts)
			})
		}
		const scenarios = 200
		seed, err := findBug(t, faulty, scenarios)
		if err == nil {
			t.Errorf("%s: the model test has found no bug in %d scenarios", name, scenarios)
			continue
		}
		t.Logf("%s: found with seed %d: %.300v", name, seed, err)
	}
}

// findBug runs scenarios until one of them fails, and returns its seed and its error.
func findBug(t *testing.T, newInformer maker, scenarios uint64) (seed uint64, err error) {
	for seed = range scenarios {
		if err := runScenario(t, scriptOf(seed, 200), newInformer, false); err != nil {
			return seed, err
		}
	}
	return 0, nil
}
