// The actions: what the buttons of the page do.

package xray

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

const (
	actionTimeout = 15 * time.Second
	maxHandlers   = 12
	maxUpdates    = 10_000
)

// An order is the body of a request for an action.
type order struct {
	Action  string `json:"action"`
	Name    string `json:"name"`    // of an object; empty: the one that changed last
	Count   int    `json:"count"`   // of updates
	Handler string `json:"handler"` // its name
	Pace    string `json:"pace"`
}

// A refusal is an error that is the client's, with the status that says so.
type refusal struct {
	status int
	error
}

func refuse(status int, format string, args ...any) error {
	return refusal{status, fmt.Errorf(format, args...)}
}

// actions are all that there are. Each returns a sentence that says what was done.
var actions = map[string]func(*XRay, context.Context, *Subject, order) (string, error){
	"create":   (*XRay).create,
	"relabel":  (*XRay).relabel,
	"delete":   (*XRay).remove,
	"recreate": (*XRay).recreate,
	"update":   (*XRay).update,
	"cut":      (*XRay).cut,
	"restore":  (*XRay).restore,
	"expire":   (*XRay).expire,
	"resync":   (*XRay).resync,
	"add":      (*XRay).addHandler,
	"pace":     (*XRay).setPace,
	"remove":   (*XRay).removeHandler,
}

var colours = []string{"red", "blue", "green", "amber", "violet", "grey"}

// create makes an object under a name that is free.
func (x *XRay) create(ctx context.Context, s *Subject, _ order) (string, error) {
	for {
		n := x.created.Add(1)
		name := fmt.Sprintf("%s-%d", colours[int(n-1)%len(colours)], n)
		if err := s.Objects.Create(ctx, name, map[string]string{"app": "web"}); !apierrors.IsAlreadyExists(err) {
			return fmt.Sprintf("%s %s was created.", s.Kind, name), err
		}
	}
}

// object returns the name and the label app of the object that an order is about. It
// must be in the store: what is not shown cannot be changed.
func (s *Subject) object(o order) (name, app string, err error) {
	key := s.namespace + "/" + o.Name
	if o.Name == "" {
		key = s.recorder.lastKey()
	}
	obj, ok, err := s.Informer.GetStore().GetByKey(key)
	switch namespace, name, _ := cache.SplitMetaNamespaceKey(key); {
	case err != nil:
		return "", "", err
	case !ok && o.Name == "":
		return "", "", refuse(http.StatusNotFound, "there is no %s to change: create one first", s.Kind)
	case !ok || namespace != s.namespace:
		return "", "", refuse(http.StatusNotFound, "there is no %s %q in the store: choose one that the page shows",
			s.Kind, o.Name)
	default:
		return name, labelsOf(obj)["app"], nil
	}
}

// relabel gives an object another value of the label app, the next one in a circle.
func (x *XRay) relabel(ctx context.Context, s *Subject, o order) (string, error) {
	name, app, err := s.object(o)
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
	s.recorder.act(fmt.Sprintf("%s has the label app=%s now. An index follows its objects.", name, next), linkIndex)
	return fmt.Sprintf("%s %s has the label app=%s now.", s.Kind, name, next), nil
}

func (x *XRay) remove(ctx context.Context, s *Subject, o order) (string, error) {
	name, _, err := s.object(o)
	if err != nil {
		return "", err
	}
	err = s.Objects.Delete(ctx, name)
	if apierrors.IsNotFound(err) {
		err = refuse(http.StatusNotFound, "%s is deleted already: the store does not know it yet", name)
	}
	return fmt.Sprintf("%s %s was deleted.", s.Kind, name), err
}

func (x *XRay) recreate(ctx context.Context, s *Subject, o order) (string, error) {
	name, app, err := s.object(o)
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

func (x *XRay) cut(_ context.Context, s *Subject, _ order) (string, error) {
	if s.Line == nil {
		return "", refuse(http.StatusConflict, "the connection of %s cannot be cut here", s.Name)
	}
	s.recorder.act("The cable is pulled out: both informers lose their connections.", linkCut)
	s.Line.pull()
	return "The connection is cut.", nil
}

func (x *XRay) restore(_ context.Context, s *Subject, _ order) (string, error) {
	if s.Line == nil {
		return "", refuse(http.StatusConflict, "the connection of %s cannot be cut here", s.Name)
	}
	s.recorder.act("The cable is plugged in. A reflector notices when its pause is over.", linkCut)
	s.Line.restore()
	return "The cable is plugged in: a reflector tries again when its pause is over.", nil
}

func (x *XRay) expire(_ context.Context, s *Subject, _ order) (string, error) {
	ended := 0
	for _, source := range []*Source{s.Source, s.ClientGo} {
		if source != nil {
			ended += source.Expire()
		}
	}
	if ended == 0 {
		return "", refuse(http.StatusConflict, "there is no open watch of %s that could expire: wait for one", s.Name)
	}
	return fmt.Sprintf("Watches that ended with 410 Expired, in both lanes: %d.", ended), nil
}

func (x *XRay) resync(_ context.Context, s *Subject, _ order) (string, error) {
	s.recorder.act("No request was made: handlers get each object of the store once more. "+
		"client-go's informer has no such call.", linkResync)
	s.Informer.ResyncNow()
	return "Handlers get all that is stored once more; client-go's have no such call.", nil
}

func (x *XRay) addHandler(_ context.Context, s *Subject, o order) (string, error) {
	if !isPace(o.Pace) {
		return "", refuse(http.StatusBadRequest, "there is no pace %q (known: %q)", o.Pace, paces)
	}
	name := fmt.Sprintf("handler-%d", 2+s.named.Add(1)) // after the two of Start
	if err := s.addHandler(name, o.Pace); err != nil {
		return "", err
	}
	s.mentionPace(name, o.Pace)
	return fmt.Sprintf("%s joins, and is %s.", name, o.Pace), nil
}

func (x *XRay) setPace(_ context.Context, s *Subject, o order) (string, error) {
	m, err := s.member(o.Handler)
	switch {
	case err != nil:
		return "", err
	case !isPace(o.Pace):
		return "", refuse(http.StatusBadRequest, "there is no pace %q (known: %q)", o.Pace, paces)
	}
	m.each(func(h *handler) { h.setPace(o.Pace) })
	s.mentionPace(o.Handler, o.Pace)
	return fmt.Sprintf("%s is %s now.", o.Handler, o.Pace), nil
}

func (s *Subject) mentionPace(name, pace string) {
	switch pace {
	case stalled:
		s.recorder.act(name+" stalls: its next call does not return. The others are not held up.", linkStalled)
	case slow:
		s.recorder.act(fmt.Sprintf("%s takes %v for each call. The others are not held up.", name, slowCall), linkSlow)
	}
}

// removeHandler removes a handler, which need not wait for its pace any more.
func (x *XRay) removeHandler(_ context.Context, s *Subject, o order) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.members[o.Handler]
	delete(s.members, o.Handler)
	if m == nil {
		return "", noHandler(o.Handler)
	}
	var err error
	for _, undo := range m.undo {
		if undo != nil {
			err = errors.Join(err, undo())
		}
	}
	m.each(func(h *handler) { h.leave() })
	if s.lane != nil {
		s.recorder.add(input{Event: observer.Event{Kind: observer.Removed, Handler: o.Handler}, lane: clientGo})
	}
	return o.Handler + " is removed.", err
}

func (s *Subject) member(name string) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.members[name]; m != nil {
		return m, nil
	}
	return nil, noHandler(name)
}

func noHandler(name string) error {
	return refuse(http.StatusNotFound, "there is no handler %q: choose one that the page shows", name)
}
