// The actions: what the buttons of the page do.

package xray

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/07-shared-informer/xray/recorder"
)

const (
	maxUpdates  = 10_000
	bulkWorkers = 16
)

// actions are all that there are. Each returns a sentence about what was done.
var actions = map[string]func(context.Context, *Subject, order) (string, error){
	"create": create, "relabel": relabel, "delete": remove, "recreate": recreate, "update": update,
	"cut": cut, "restore": restore, "expire": expire, "resync": resync,
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

// objectOf returns the name and the label app of the object that an order is about. It
// must be in the store: what is not shown cannot be changed.
func objectOf(s *Subject, o order) (name, app string, err error) {
	key := s.namespace + "/" + o.Name
	if o.Name == "" {
		key = s.recorder.LastKey()
	}
	obj, ok, err := s.Informer.GetStore().GetByKey(key)
	namespace, name, _ := cache.SplitMetaNamespaceKey(key)
	switch {
	case err != nil:
		return "", "", err
	case !ok && o.Name == "":
		return "", "", refuse(http.StatusNotFound, "there is no %s to change: create one first", s.Kind)
	case !ok || namespace != s.namespace:
		return "", "", refuse(http.StatusNotFound, "there is no %s %q in the store: choose one that the page shows",
			s.Kind, o.Name)
	}
	about, err := meta.Accessor(obj)
	if err != nil {
		return "", "", err
	}
	return name, about.GetLabels()["app"], nil
}

// relabel gives an object another value of the label app, the next one in a circle.
func relabel(ctx context.Context, s *Subject, o order) (string, error) {
	name, app, err := objectOf(s, o)
	if err != nil {
		return "", err
	}
	next := map[string]string{"web": "db", "db": "cache"}[app]
	if next == "" {
		next = "web"
	}
	if err := s.Objects.Patch(ctx, name, fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q}}}`, next)); err != nil {
		return "", err
	}
	has := fmt.Sprintf("%s has the label app=%s now.", name, next)
	s.recorder.RecordAction(has+" An index follows its objects.", recorder.LinkIndex)
	return s.Kind + " " + has, nil
}

func remove(ctx context.Context, s *Subject, o order) (string, error) {
	name, _, err := objectOf(s, o)
	if err != nil {
		return "", err
	}
	err = s.Objects.Delete(ctx, name)
	if apierrors.IsNotFound(err) {
		err = refuse(http.StatusNotFound, "%s is deleted already: the store does not know it yet", name)
	}
	return fmt.Sprintf("%s %s was deleted.", s.Kind, name), err
}

func recreate(ctx context.Context, s *Subject, o order) (string, error) {
	name, app, err := objectOf(s, o)
	if err != nil {
		return "", err
	}
	if err := s.Objects.Delete(ctx, name); err != nil {
		return "", err
	}
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
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
	b, what := &bulk{updates: o.Count}, recorder.Count(o.Count, "update")
	switch {
	case o.Count < 1 || o.Count > maxUpdates:
		return "", refuse(http.StatusBadRequest, "%d updates: want 1 to %d", o.Count, maxUpdates)
	case ctx.Err() != nil:
		return "", refuse(http.StatusServiceUnavailable, "%w", ctx.Err())
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
	s.recorder.RecordAction(fmt.Sprintf("%s of %s begin.", what, recorder.Count(len(b.names), "object")),
		recorder.LinkInformer)
	return what + " have begun.", nil
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
	done := recorder.Count(b.updates, "update") + " are made."
	if err := context.Cause(ctx); err != nil {
		done = fmt.Sprintf("The updates were broken off: %v", err)
	}
	s.recorder.RecordAction(done, recorder.LinkInformer)
	s.bulk.Store(nil)
}

func cut(_ context.Context, s *Subject, _ order) (string, error) {
	return changeLine(s, (*Line).pull, "The connection is cut.",
		"The cable is pulled out: both informers lose their connections.")
}

func restore(_ context.Context, s *Subject, _ order) (string, error) {
	return changeLine(s, (*Line).restore, "The cable is plugged in: a reflector tries again when its pause is over.",
		"The cable is plugged in. A reflector notices when its pause is over.")
}

func changeLine(s *Subject, change func(*Line), done, caption string) (string, error) {
	if s.Line == nil {
		return "", refuse(http.StatusConflict, "the connection of %s cannot be cut here", s.Name)
	}
	s.recorder.RecordAction(caption, recorder.LinkCut)
	change(s.Line)
	return done, nil
}

func expire(_ context.Context, s *Subject, _ order) (string, error) {
	ended := 0
	for _, source := range []*Source{s.Source, s.Theirs} {
		if source != nil {
			ended += source.Expire()
		}
	}
	if ended == 0 {
		return "", refuse(http.StatusConflict, "there is no open watch of %s that could expire: wait for one", s.Name)
	}
	return fmt.Sprintf("Watches that ended with 410 Expired, in both lanes: %d.", ended), nil
}

func resync(_ context.Context, s *Subject, _ order) (string, error) {
	s.recorder.RecordAction("No request was made: handlers get each object of the store once more. "+
		"client-go's informer has no such call.", recorder.LinkResync)
	s.Informer.ResyncNow()
	return "Handlers get all that is stored once more; client-go's have no such call.", nil
}

func addHandler(_ context.Context, s *Subject, o order) (string, error) {
	if err := checkPace(o.Pace); err != nil {
		return "", err
	}
	name, err := s.addHandler("", o.Pace)
	return fmt.Sprintf("%s joins, and is %s.", name, o.Pace), err
}

func setPace(_ context.Context, s *Subject, o order) (string, error) {
	if err := checkPace(o.Pace); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is %s now.", o.Handler, o.Pace), s.setPace(o.Handler, o.Pace)
}

func checkPace(pace string) error {
	if paces := []string{recorder.Fast, recorder.Slow, recorder.Stalled}; !slices.Contains(paces, pace) {
		return refuse(http.StatusBadRequest, "there is no pace %q (known: %q)", pace, paces)
	}
	return nil
}

func removeHandler(_ context.Context, s *Subject, o order) (string, error) {
	return o.Handler + " is removed.", s.removeHandler(o.Handler)
}
