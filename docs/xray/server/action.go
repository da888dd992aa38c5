// The actions: what the buttons of the page do.

package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/docs/xray/recorder"
)

// An action returns a sentence about what was done.
type action func(context.Context, *pair, actionRequest) (string, error)

var actions = map[string]action{
	"create":   createObject,
	"relabel":  onStoredObject(relabel),
	"delete":   onStoredObject(deleteObject),
	"recreate": onStoredObject(recreate),
	"update":   updateMany,
	"cancel":   cancelUpdates,

	"cut":     cutConnection,
	"restore": restoreConnection,
	"expire":  expireWatches,
	"resync":  resyncHandlers,

	"add":    addHandler,
	"speed":  setSpeed,
	"remove": removeHandler,

	"loop":    setLoop,
	"compare": compareParts,
}

const maxUpdates = 10_000

var colours = []string{"red", "blue", "green", "amber", "violet", "grey"}

// createObject creates an object under a name that is free.
func createObject(ctx context.Context, p *pair, _ actionRequest) (string, error) {
	for {
		n := p.created.Add(1)
		name := fmt.Sprintf("%s-%d", colours[int(n-1)%len(colours)], n)
		err := p.Objects.Create(ctx, name, map[string]string{"app": "web"})
		if apierrors.IsAlreadyExists(err) {
			continue
		}
		return fmt.Sprintf("%s %s was created.", p.Kind, name), err
	}
}

// An objectAction is an action on an object that the store has. app is the value of its label app.
type objectAction func(ctx context.Context, p *pair, name, app string) (string, error)

// onStoredObject returns an action on the object that the request names. The object must be in the
// store, because only an object that the page shows can be changed.
func onStoredObject(do objectAction) action {
	return func(ctx context.Context, p *pair, request actionRequest) (string, error) {
		obj, _, _ := p.Informer.GetStore().GetByKey(p.namespace + "/" + request.Name)
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return "", refuse(http.StatusNotFound,
				"there is no %s %q in the store: create one, or choose one that the page shows", p.Kind, request.Name)
		}
		return do(ctx, p, request.Name, accessor.GetLabels()["app"])
	}
}

// relabel gives an object the next value of the label app.
func relabel(ctx context.Context, p *pair, name, app string) (string, error) {
	next := nextApp(app)
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q}}}`, next)
	if err := p.Objects.Patch(ctx, name, patch); err != nil {
		return "", err
	}
	return p.recorder.RecordAction(recorder.SectionIndex, "%s has the label app=%s now. An index follows its objects.",
		name, next), nil
}

// nextApp goes round: web, db, cache, web. After any other value comes web.
func nextApp(app string) string {
	switch app {
	case "web":
		return "db"
	case "db":
		return "cache"
	}
	return "web"
}

func deleteObject(ctx context.Context, p *pair, name, _ string) (string, error) {
	err := p.Objects.Delete(ctx, name)
	if apierrors.IsNotFound(err) {
		err = refuse(http.StatusNotFound, "%s is deleted already: the store does not know it yet", name)
	}
	return fmt.Sprintf("%s %s was deleted.", p.Kind, name), err
}

func recreate(ctx context.Context, p *pair, name, app string) (string, error) {
	if err := p.Objects.Delete(ctx, name); err != nil {
		return "", err
	}
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := p.Objects.Create(ctx, name, map[string]string{"app": app})
		if apierrors.IsAlreadyExists(err) {
			return false, nil // the old one is not gone yet
		}
		return true, err
	})
	return fmt.Sprintf("%s %s was deleted and created again.", p.Kind, name), err
}

// updateMany lets all objects of the store be updated in the background, by runUpdates. If there is no
// object, it creates one.
func updateMany(ctx context.Context, p *pair, request actionRequest) (string, error) {
	if request.Count < 1 || request.Count > maxUpdates {
		return "", refuse(http.StatusBadRequest, "%d updates: want 1 to %d", request.Count, maxUpdates)
	}
	b := &bulkUpdate{names: p.storedNames(), updates: request.Count}
	if len(b.names) == 0 {
		name := fmt.Sprintf("busy-%d", p.created.Add(1))
		if err := p.Objects.Create(ctx, name, map[string]string{"app": "web"}); err != nil {
			return "", err
		}
		b.names = []string{name}
	}
	b.ctx, b.cancel = context.WithCancelCause(p.ctx)
	if !p.bulk.CompareAndSwap(nil, b) {
		b.cancel(nil)
		return "", refuse(http.StatusConflict, "many updates are under way: wait until they are made")
	}
	text := p.recorder.RecordAction(recorder.SectionInformer, "%s of %s begin.",
		recorder.Plural(b.updates, "update"), recorder.Plural(len(b.names), "object"))
	return text, ctx.Err() // if the context has ended, nobody makes the updates
}

// cancelUpdates ends the updates that are under way.
func cancelUpdates(_ context.Context, p *pair, _ actionRequest) (string, error) {
	b := p.bulk.Load()
	if b == nil {
		return "", refuse(http.StatusConflict, "no updates are under way")
	}
	b.cancel(errCancelled)
	return "The updates end.", nil
}

func cutConnection(_ context.Context, p *pair, _ actionRequest) (string, error) {
	text := p.recorder.RecordAction(recorder.SectionCut,
		"The cable is pulled out: both informers lose their connections.")
	p.Connection.cut()
	return text, nil
}

func restoreConnection(_ context.Context, p *pair, _ actionRequest) (string, error) {
	text := p.recorder.RecordAction(recorder.SectionCut,
		"The cable is plugged in. A reflector notices when its pause is over.")
	p.Connection.restore()
	return text, nil
}

// expireWatches ends the open watches of both informers.
func expireWatches(_ context.Context, p *pair, _ actionRequest) (string, error) {
	ended := 0
	for _, i := range p.informers {
		if i.source.Expire() {
			ended++
		}
	}
	if ended == 0 {
		return "", refuse(http.StatusConflict, "there is no open watch of %s that could expire: wait for one", p.Name)
	}
	return fmt.Sprintf("Watches of both informers that ended with 410 Expired: %d.", ended), nil
}

func resyncHandlers(_ context.Context, p *pair, _ actionRequest) (string, error) {
	text := "No request was made: handlers get each object of the store once more."
	if p.Second == nil {
		text += " client-go's informer has no such call."
	}
	text = p.recorder.RecordAction(recorder.SectionResync, "%s", text)
	p.Informer.ResyncNow()
	if p.Second != nil {
		p.Second.ResyncNow()
	}
	return text, nil
}

func addHandler(_ context.Context, p *pair, request actionRequest) (string, error) {
	name, err := p.add("", request.Speed)
	return fmt.Sprintf("%s joins, and is %s.", name, request.Speed), err
}

func setSpeed(_ context.Context, p *pair, request actionRequest) (string, error) {
	return fmt.Sprintf("%s is %s now.", request.Handler, request.Speed), p.changeSpeed(request.Handler, request.Speed)
}

// setLoop changes the pace of the loops that pop.
func setLoop(_ context.Context, p *pair, request actionRequest) (string, error) {
	duration, err := callDuration(request.Speed)
	if err != nil {
		return "", err
	}
	hasQueue := func(parts recorder.Parts) bool { return parts.Queue != "" }
	if p.loop == nil || !slices.ContainsFunc(slices.Collect(maps.Values(p.Parts)), hasQueue) {
		return "", refuse(http.StatusConflict, "neither informer has a queue: choose parts that have one")
	}
	p.loop.setDuration(duration)
	p.recorder.RecordLoop(request.Speed)
	return fmt.Sprintf("The loop that pops is %s now.", request.Speed), nil
}

// compareParts shows other parts, in all windows. All informers begin again.
func compareParts(_ context.Context, p *pair, request actionRequest) (string, error) {
	if p.compare == nil {
		return "", refuse(http.StatusConflict, "this program shows one informer, and no other parts")
	}
	c := Comparison{First: request.First, Second: request.Second}
	if err := p.compare(c); err != nil {
		return "", err
	}
	return "The informers begin again, with these parts.", nil
}

func removeHandler(_ context.Context, p *pair, request actionRequest) (string, error) {
	return request.Handler + " is removed.", p.remove(request.Handler)
}
