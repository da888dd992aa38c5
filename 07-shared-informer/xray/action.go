// The actions: what the buttons of the page do.

package xray

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/xray/recorder"
)

const (
	maxUpdates  = 10_000
	bulkWorkers = 16
)

// An action returns a sentence about what was done.
type action func(context.Context, *Subject, order) (string, error)

var actions = map[string]action{
	"create": create, "relabel": onObject(relabel), "delete": onObject(remove), "recreate": onObject(recreate),
	"update": update,
	"cut":    cut, "restore": restore, "expire": expire, "resync": resync,
	"add": addHandler, "pace": setPace, "remove": removeHandler,
}

var colours = []string{"red", "blue", "green", "amber", "violet", "grey"}

// create makes an object under a name that is free.
func create(ctx context.Context, s *Subject, _ order) (string, error) {
	for {
		n := s.created.Add(1)
		name := fmt.Sprintf("%s-%d", colours[int(n-1)%len(colours)], n)
		if err := s.Objects.Create(ctx, name, map[string]string{"app": "web"}); !apierrors.IsAlreadyExists(err) {
			return fmt.Sprintf("%s %s was created.", s.Kind, name), err
		}
	}
}

// onObject is for an action on the object that an order names. It must be in the store:
// what is not shown cannot be changed.
func onObject(do func(ctx context.Context, s *Subject, name, app string) (string, error)) action {
	return func(ctx context.Context, s *Subject, o order) (string, error) {
		obj, _, _ := s.Informer.GetStore().GetByKey(s.namespace + "/" + o.Name)
		about, err := meta.Accessor(obj)
		if err != nil {
			return "", refuse(http.StatusNotFound,
				"there is no %s %q in the store: create one, or choose one that the page shows", s.Kind, o.Name)
		}
		return do(ctx, s, o.Name, about.GetLabels()["app"])
	}
}

// relabel gives an object another value of the label app, the next one in a circle.
func relabel(ctx context.Context, s *Subject, name, app string) (string, error) {
	next := cmp.Or(map[string]string{"web": "db", "db": "cache"}[app], "web")
	if err := s.Objects.Patch(ctx, name, fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q}}}`, next)); err != nil {
		return "", err
	}
	return s.recorder.RecordAction(recorder.LinkIndex, "%s has the label app=%s now. An index follows its objects.",
		name, next), nil
}

func remove(ctx context.Context, s *Subject, name, _ string) (string, error) {
	err := s.Objects.Delete(ctx, name)
	if apierrors.IsNotFound(err) {
		err = refuse(http.StatusNotFound, "%s is deleted already: the store does not know it yet", name)
	}
	return fmt.Sprintf("%s %s was deleted.", s.Kind, name), err
}

func recreate(ctx context.Context, s *Subject, name, app string) (string, error) {
	if err := s.Objects.Delete(ctx, name); err != nil {
		return "", err
	}
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := s.Objects.Create(ctx, name, map[string]string{"app": app})
		if apierrors.IsAlreadyExists(err) {
			return false, nil // it is not gone yet
		}
		return true, err
	})
	return fmt.Sprintf("%s %s was deleted and created again.", s.Kind, name), err
}

// update has all objects changed, in the background: see runUpdates.
func update(ctx context.Context, s *Subject, o order) (string, error) {
	b := &bulk{updates: o.Count}
	if o.Count < 1 || o.Count > maxUpdates {
		return "", refuse(http.StatusBadRequest, "%d updates: want 1 to %d", o.Count, maxUpdates)
	}
	for _, key := range s.Informer.GetStore().ListKeys() {
		if namespace, name, err := cache.SplitMetaNamespaceKey(key); err == nil && namespace == s.namespace {
			b.names = append(b.names, name)
		}
	}
	if len(b.names) == 0 {
		b.names = []string{fmt.Sprintf("busy-%d", s.created.Add(1))}
		if err := s.Objects.Create(ctx, b.names[0], map[string]string{"app": "web"}); err != nil {
			return "", err
		}
	}
	if !s.bulk.CompareAndSwap(nil, b) {
		return "", refuse(http.StatusConflict, "many updates are under way: wait until they are made")
	}
	return s.recorder.RecordAction(recorder.LinkInformer, "%s of %s begin.", recorder.Count(b.updates, "update"),
		recorder.Count(len(b.names), "object")), ctx.Err() // after the end nobody makes them
}

// runUpdates makes the updates that were asked for, several at a time, until the context
// ends. Two workers hardly ever change the same object: one of them would have to try again.
func runUpdates(ctx context.Context, s *Subject) {
	b := s.bulk.Load()
	if b == nil {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workqueue.ParallelizeUntil(ctx, min(bulkWorkers, len(b.names)), b.updates, func(n int) {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"xray":"%d"}}}`, n)
		err := s.Objects.Patch(ctx, b.names[n%len(b.names)], patch)
		if err != nil && !apierrors.IsNotFound(err) {
			cancel(err)
			return
		}
		b.made.Add(1)
	})
	if err := context.Cause(ctx); err != nil {
		s.recorder.RecordAction(recorder.LinkInformer, "The updates were broken off: %v", err)
	} else {
		s.recorder.RecordAction(recorder.LinkInformer, "%s are made.", recorder.Count(b.updates, "update"))
	}
	s.bulk.Store(nil)
}

func cut(_ context.Context, s *Subject, _ order) (string, error) {
	defer s.Line.pull()
	return s.recorder.RecordAction(recorder.LinkCut,
		"The cable is pulled out: both informers lose their connections."), nil
}

func restore(_ context.Context, s *Subject, _ order) (string, error) {
	defer s.Line.restore()
	return s.recorder.RecordAction(recorder.LinkCut,
		"The cable is plugged in. A reflector notices when its pause is over."), nil
}

func expire(_ context.Context, s *Subject, _ order) (string, error) {
	ended := 0
	for _, l := range s.lanes {
		if l.source.Expire() {
			ended++
		}
	}
	if ended == 0 {
		return "", refuse(http.StatusConflict, "there is no open watch of %s that could expire: wait for one", s.Name)
	}
	return fmt.Sprintf("Watches that ended with 410 Expired, in both lanes: %d.", ended), nil
}

func resync(_ context.Context, s *Subject, _ order) (string, error) {
	defer s.Informer.ResyncNow()
	return s.recorder.RecordAction(recorder.LinkResync, "No request was made: handlers get each object of the store "+
		"once more. client-go's informer has no such call."), nil
}

func addHandler(_ context.Context, s *Subject, o order) (string, error) {
	name, err := s.addHandler("", o.Pace)
	return fmt.Sprintf("%s joins, and is %s.", name, o.Pace), err
}

func setPace(_ context.Context, s *Subject, o order) (string, error) {
	p, err := newPace(o.Pace)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is %s now.", o.Handler, o.Pace), s.withHandler(o.Handler, func(h *handler) error {
		h.setPace(p)
		s.recorder.RecordPace(o.Handler, o.Pace)
		return nil
	})
}

// removeHandler removes a handler, which need not wait for its pace any more.
func removeHandler(_ context.Context, s *Subject, o order) (string, error) {
	return o.Handler + " is removed.", s.withHandler(o.Handler, func(h *handler) (err error) {
		delete(s.handlers, o.Handler)
		for of, l := range s.lanes {
			err = errors.Join(err, l.RemoveEventHandler(h.registered[of]))
			l.source.observer.Observe(observer.Event{Kind: observer.Removed, Handler: o.Handler})
		}
		h.setPace(new(pace))
		return err
	})
}
