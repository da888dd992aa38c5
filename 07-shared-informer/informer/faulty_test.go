// Informers with a bug each. The model has to find all of them.

package informer

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/expect"
)

type notification = processor.Notification

// A bug changes what is on its way to a handler: it returns what comes instead of
// the nth notification. Each handler has its own.
type bug func(n int, next notification) []notification

// A faultyInformer has a bug for each of its handlers. Late is one that was added
// after the sync.
type faultyInformer struct {
	*Informer
	plant func(late bool) bug
}

func (f faultyInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	n, change := 0, f.plant(f.HasSynced())
	pass := func(next notification) {
		n++
		for _, next := range change(n, next) {
			switch next.Kind {
			case processor.Added:
				handler.OnAdd(next.New, next.Initial)
			case processor.Updated:
				handler.OnUpdate(next.Old, next.New)
			case processor.Deleted:
				handler.OnDelete(next.New)
			}
		}
	}
	return f.Informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			pass(notification{Kind: processor.Added, New: obj, Initial: initial})
		},
		UpdateFunc: func(old, obj any) { pass(notification{Kind: processor.Updated, Old: old, New: obj}) },
		DeleteFunc: func(obj any) { pass(notification{Kind: processor.Deleted, New: obj}) },
	}, options)
}

// A clingingInformer adds a handler again that is removed.
type clingingInformer struct {
	*Informer
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

// A spoiler makes a faulty informer of one that is not.
type spoiler func(*Informer) cache.SharedIndexInformer

// sometimes changes what is of one kind, each fifth time.
func sometimes(kind processor.Kind, change func(notification) []notification) spoiler {
	return planted(func(bool) bug {
		return func(n int, next notification) []notification {
			if n%5 != 0 || next.Kind != kind {
				return []notification{next}
			}
			return change(next)
		}
	})
}

// first changes the beginning of a late handler.
func first(change func(notification) []notification) spoiler {
	return planted(func(late bool) bug {
		return func(n int, next notification) []notification {
			if n != 1 || !late {
				return []notification{next}
			}
			return change(next)
		}
	})
}

func planted(plant func(late bool) bug) spoiler {
	return func(informer *Informer) cache.SharedIndexInformer { return faultyInformer{informer, plant} }
}

func TestTheModelFindsBugs(t *testing.T) {
	none := func(notification) []notification { return nil }
	twice := func(n notification) []notification { return []notification{n, n} }
	altered := func(alter func(*notification)) func(notification) []notification {
		return func(n notification) []notification { alter(&n); return []notification{n} }
	}
	for name, spoil := range map[string]spoiler{
		"an add is lost":        sometimes(processor.Added, none),
		"an update is lost":     sometimes(processor.Updated, none),
		"a delete is lost":      sometimes(processor.Deleted, none),
		"an add comes twice":    sometimes(processor.Added, twice),
		"a delete comes twice":  sometimes(processor.Deleted, twice),
		"what is new is not so": sometimes(processor.Updated, altered(func(n *notification) { n.New = n.Old })),
		"what is old is not so": sometimes(processor.Updated, altered(func(n *notification) { n.Old = n.New })),
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
				if kept = nil; n%9 == 0 {
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
		"folded, and the old state is wrong": func(informer *Informer) cache.SharedIndexInformer {
			informer.processor = processor.New(lossyFanout{processor.NewLog()})
			return informer
		},
		"a removed handler is called": func(informer *Informer) cache.SharedIndexInformer {
			return clingingInformer{informer, map[cache.ResourceEventHandlerRegistration]cache.ResourceEventHandler{}}
		},
	} {
		faulty := func(lw cache.ListerWatcher, example runtime.Object,
			options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return spoil(New(lw, example, options))
		}
		found := false
		for seed := uint64(0); seed < 200 && !found; seed++ {
			err := runScenario(t, scriptOf(seed, 200), faulty, false)
			if found = err != nil; found {
				t.Logf("%s: found with seed %d: %.300v", name, seed, err)
			}
		}
		expect.That(t, found, "%s: not found", name)
	}
}
