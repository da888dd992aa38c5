// The situations of the page, and a server in memory that brings them about.

package versions

import (
	"cmp"
	"context"
	"errors"
	"io"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/record"
)

var (
	expired   = apierrors.NewResourceExpired("too old")
	invalid   = apierrors.NewInvalid(schema.GroupKind{}, "", nil)
	forbidden = apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	internal  = apierrors.NewInternalError(errors.New("oh"))
	tooMany   = apierrors.NewTooManyRequests("slow down", 1)
	tooLarge  = apierrors.NewTimeoutError("Too large resource version: 12, current: 11", 1)
)

// A situation says how the first watches and lists go. All others go well.
type situation struct {
	watches []watchOutcome
	lists   []error // a LIST, or a WATCH with the initial list, gets this error; nil if it goes well

	noStreams bool // each WATCH with the initial list gets 422
}

// A watchOutcome says how a watch goes. The zero value is a watch that goes well, and stays open.
type watchOutcome struct {
	refused  error          // the WATCH gets this error
	sends    *metav1.Status // the watch sends an ERROR event with this status, and ends
	ends     bool           // the watch ends after an event
	endsSoon bool           // the watch ends immediately, without an event
}

var (
	ends     = watchOutcome{ends: true}
	endsSoon = watchOutcome{endsSoon: true}
)

func refused(err error) watchOutcome { return watchOutcome{refused: err} }

func sends(err *apierrors.StatusError) watchOutcome { return watchOutcome{sends: &err.ErrStatus} }

// situations are the situations of the page, by their names on the page.
var situations = map[string]situation{
	"the first list": {},
	"a streamed list gets 422: the server cannot stream. A watch sends ERROR 410": {
		noStreams: true, watches: []watchOutcome{sends(expired)},
	},
	"the first list gets 403":                            {lists: []error{forbidden}},
	"the first list gets EOF":                            {lists: []error{io.EOF}},
	"the first list gets “connection refused”":           {lists: []error{syscall.ECONNREFUSED}},
	"a watch ends":                                       {watches: []watchOutcome{ends}},
	"a watch ends in its first second, without an event": {watches: []watchOutcome{endsSoon}},
	"a watch sends ERROR 410":                            {watches: []watchOutcome{sends(expired)}},
	"… and the list gets 410": {
		watches: []watchOutcome{sends(expired)}, lists: []error{nil, expired},
	},
	"… and the list gets 504 “too large”": {
		watches: []watchOutcome{sends(expired)}, lists: []error{nil, tooLarge},
	},
	"a watch sends ERROR 429": {watches: []watchOutcome{sends(tooMany)}},
	"a watch sends ERROR 500": {watches: []watchOutcome{sends(internal)}},
	"a WATCH gets “connection refused”": {
		watches: []watchOutcome{ends, refused(syscall.ECONNREFUSED)},
	},
	"a WATCH gets 429": {watches: []watchOutcome{ends, refused(tooMany)}},
	"a WATCH gets 410": {watches: []watchOutcome{ends, refused(expired)}},
	"a WATCH gets 403": {watches: []watchOutcome{ends, refused(forbidden)}},
	"a WATCH gets EOF": {watches: []watchOutcome{ends, refused(io.EOF)}},
	"a WATCH gets “unexpected EOF”": {
		watches: []watchOutcome{ends, refused(io.ErrUnexpectedEOF)},
	},
}

// A server has a list with version 10, and its watches send an object with version 11.
type server struct {
	situation
	requests record.Lines
}

// takeFirst removes the first element of a slice, and returns it. For an empty slice it returns the
// zero value.
func takeFirst[T any](all *[]T) (first T) {
	if len(*all) > 0 {
		first, *all = (*all)[0], (*all)[1:]
	}
	return first
}

func (s *server) list(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.requests.Add("LIST %s", cmp.Or(o.ResourceVersion, `""`))
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}, takeFirst(&s.lists)
}

func (s *server) watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, verb := watch.NewFakeWithChanSize(3, false), "WATCH"
	streams := o.SendInitialEvents != nil
	if streams {
		verb = "WATCH+"
	}
	s.requests.Add("%s %s", verb, cmp.Or(o.ResourceVersion, `""`))
	if streams {
		if s.noStreams {
			return nil, invalid
		}
		if err := takeFirst(&s.lists); err != nil {
			return nil, err
		}
		end := fakeapi.ConfigMap("", "10")
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.Action(watch.Bookmark, end)
	}
	outcome := takeFirst(&s.watches)
	if outcome.refused != nil {
		return nil, outcome.refused
	}
	if !outcome.endsSoon {
		w.Add(fakeapi.ConfigMap("a", "11"))
	}
	if outcome.sends != nil {
		status := *outcome.sends
		w.Error(&status)
	}
	if outcome != (watchOutcome{}) {
		w.Stop()
	}
	return w, nil
}

// noStreams makes a ListerWatcher say that it cannot stream lists.
type noStreams struct{}

// IsWatchListSemanticsUnSupported is the method that client-go looks for.
func (noStreams) IsWatchListSemanticsUnSupported() bool { return true }

// listerWatcher returns a ListerWatcher that can stream lists, or one that cannot.
func listerWatcher(lw *cache.ListWatch, streams bool) cache.ListerWatcher {
	if streams {
		return lw
	}
	return cache.ToListWatcherWithWatchListSemantics(lw, noStreams{})
}
