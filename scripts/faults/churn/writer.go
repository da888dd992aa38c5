// One writer: it makes what is not there, changes what is, deletes it, and at
// times makes it again at once under the same name.

package churn

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/informer/scripts/faults/judge"
)

type writer struct {
	churn            *Churn
	random           *rand.Rand
	configMaps, pods kind
	namespace        string
	prefix           string
	alive            map[string]bool // by resource and name: what is there, as far as the writer knows
}

// kind is a resource and how many names of it the writer has.
type kind struct {
	resource string
	names    int
	api      api
}

// change makes one change, or two where something is replaced.
func (w *writer) change(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	k := w.configMaps
	if w.random.IntN(4) == 0 {
		k = w.pods
	}
	name := fmt.Sprintf("%s-%d", w.prefix, w.random.IntN(k.names))
	dice := w.random.IntN(10)
	switch is := k.resource + "/" + name; {
	case !w.alive[is]:
		w.create(ctx, k, name)
	case dice < 2:
		w.remove(ctx, k, name)
	case dice < 4:
		w.remove(ctx, k, name)
		w.create(ctx, k, name)
	default:
		w.update(ctx, k, name)
	}
}

// app is a label that changes, so that indexes have to follow.
func (w *writer) app() string { return fmt.Sprintf("app-%d", w.random.IntN(10)) }

func (w *writer) create(ctx context.Context, k kind, name string) {
	o, err := k.api.create(ctx, name, w.app(), w.churn.now())
	w.done(k, name, o, err, true)
}

func (w *writer) update(ctx context.Context, k kind, name string) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"labels":      map[string]string{"app": w.app()},
		"annotations": map[string]string{stamp: w.churn.now()},
	}})
	if err != nil {
		panic(err) // maps of strings can always be encoded
	}
	o, err := k.api.patch(ctx, name, patch)
	w.done(k, name, o, err, true)
}

func (w *writer) remove(ctx context.Context, k kind, name string) {
	uid, err := k.api.remove(ctx, name)
	w.done(k, name, judge.Written{UID: uid, Deleted: true}, err, false)
}

// done writes down what came of a change.
func (w *writer) done(k kind, name string, o judge.Written, err error, alive bool) {
	is := k.resource + "/" + name
	switch {
	case err == nil:
		o.Key = w.namespace + "/" + name
		w.churn.confirm(k.resource, o)
		w.alive[is] = alive
		return
	case apierrors.IsAlreadyExists(err): // an earlier try was not in vain
		w.alive[is] = true
	case apierrors.IsNotFound(err):
		w.alive[is] = false
	}
	w.churn.fail()
}
