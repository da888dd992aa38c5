// Many clients at the pages, while the objects behind them change.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// A changing object is a ConfigMap that is created, updated, deleted and
// created again. The number of a change says all about the state after it.
type changing struct {
	name   string
	sent   atomic.Int64 // the last change that may be in the store
	cached atomic.Int64 // the last change that is known to be there: no page may show one before it
}

func gone(change int64) bool     { return change%7 == 0 }
func colour(change int64) string { return []string{"red", "blue"}[change%2] }

// change has the watch bring the next change.
func (o *changing) change(events *watch.FakeWatcher) {
	change := o.sent.Add(1)
	number := strconv.FormatInt(change, 10)
	configMap := &corev1.ConfigMap{ObjectMeta: object(o.name, "colour="+colour(change))}
	configMap.ResourceVersion, configMap.Data = number, map[string]string{"change": number}
	switch {
	case gone(change):
		events.Delete(configMap)
	case gone(change - 1):
		events.Add(configMap)
	default:
		events.Modify(configMap)
	}
}

// A reader asks for pages, and remembers what it has seen of each object.
type reader struct {
	url     string
	http    http.Client
	objects []*changing
	seen    map[*changing]int64 // the change that a page has to show, or a later one
}

// round asks for the whole list, for those with a label, and for one object.
func (r *reader) round(one *changing) error {
	if err := r.read("/configmaps", r.objects, func(change int64) bool { return !gone(change) }); err != nil {
		return err
	}
	for _, want := range []string{"red", "blue"} {
		wanted := func(change int64) bool { return !gone(change) && colour(change) == want }
		if err := r.read("/configmaps?label=colour%3D"+want, r.objects, wanted); err != nil {
			return err
		}
	}
	return r.read("/configmaps/ns/"+one.name, []*changing{one}, func(change int64) bool { return !gone(change) })
}

// read asks for a page, and judges what it says of some objects. It is to show
// those that are in a state that is wanted.
func (r *reader) read(path string, objects []*changing, wanted func(change int64) bool) error {
	for _, o := range objects {
		r.seen[o] = max(r.seen[o], o.cached.Load())
	}
	response, err := r.http.Get(r.url + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	shown := make([]corev1.ConfigMap, 1)
	switch single := len(objects) == 1; {
	case single && response.StatusCode == http.StatusNotFound:
		err = json.Unmarshal(body, new(struct{ Error string }))
		shown = nil
	case response.StatusCode != http.StatusOK:
		err = fmt.Errorf("status %d", response.StatusCode)
	case single:
		err = json.Unmarshal(body, &shown[0])
	default:
		err = json.Unmarshal(body, &shown)
	}
	for i := 0; i < len(objects) && err == nil; i++ {
		if len(shown) > 0 && shown[0].Name == objects[i].name { // both are in order
			err = r.judge(objects[i], &shown[0], wanted)
			shown = shown[1:]
		} else {
			err = r.judge(objects[i], nil, wanted)
		}
	}
	if err == nil && len(shown) > 0 {
		err = fmt.Errorf("%s is unknown, listed twice, or not in its place", shown[0].Name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%.1000s", path, err, body)
	}
	return nil
}

// judge looks for a change, not before what was seen last, that explains why
// the object is shown as it is, or is not shown.
func (r *reader) judge(o *changing, shown *corev1.ConfigMap, wanted func(change int64) bool) error {
	first, last := r.seen[o], o.sent.Load()
	if shown == nil {
		for change := first; change <= last; change++ {
			if !wanted(change) {
				r.seen[o] = change
				return nil
			}
		}
		return fmt.Errorf("%s is missing, and was to be shown from change %d to %d", o.name, first, last)
	}
	change, err := strconv.ParseInt(shown.Data["change"], 10, 64)
	switch {
	case err != nil, shown.ResourceVersion != shown.Data["change"], shown.Labels["colour"] != colour(change),
		shown.Kind != "ConfigMap":
		return fmt.Errorf("%s is not whole: %v", o.name, shown)
	case change < first, change > last:
		return fmt.Errorf("%s is shown after change %d, want one of %d to %d", o.name, change, first, last)
	case !wanted(change):
		return fmt.Errorf("%s is shown after change %d, and was not to be", o.name, change)
	}
	r.seen[o] = change
	return nil
}

// 64 clients are as many as the server lets in at a time. None of them gets an
// error, half an object, or one that is deleted or older than what the same
// client has seen before, or the store has had.
func TestPagesUnderLoad(t *testing.T) {
	const clients, rounds, count = 64, 10, 20
	client, events := fake.NewClientset(), watch.NewFake()
	client.PrependWatchReactor("configmaps", clienttesting.DefaultWatchReactor(events, nil))
	url, f := serve(t, client, false, true)
	objects := make([]*changing, count)
	byName := map[string]*changing{}
	for i := range objects {
		objects[i] = &changing{name: fmt.Sprintf("object-%02d", i)}
		byName[objects[i].name] = objects[i]
	}
	note := func(obj any) { // a handler is called when the store has it
		configMap := obj.(*corev1.ConfigMap)
		change, _ := strconv.ParseInt(configMap.Data["change"], 10, 64)
		byName[configMap.Name].cached.Store(change)
	}
	_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }, DeleteFunc: note,
	})
	must.Do(t, err)

	amid, stop := context.WithCancel(t.Context())
	var reading, writing sync.WaitGroup
	writing.Go(func() {
		for amid.Err() == nil {
			for _, o := range objects {
				o.change(events)
			}
			time.Sleep(time.Millisecond) // the readers want to be served, too
		}
	})
	for n := range clients {
		reading.Go(func() {
			oneConnection := http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
			r := &reader{url, oneConnection, objects, map[*changing]int64{}}
			defer r.http.CloseIdleConnections()
			for i := range rounds {
				if err := r.round(objects[(n+i)%count]); err != nil {
					t.Errorf("client %d: %v", n, err)
					return
				}
			}
		})
	}
	reading.Wait()
	stop()
	writing.Wait()
	t.Logf("%d answers, amid %d changes of each of %d objects", 4*clients*rounds, objects[0].sent.Load(), count)
	expect.That(t, objects[0].sent.Load() >= 7, "nothing was deleted meanwhile: that proves little")
}
