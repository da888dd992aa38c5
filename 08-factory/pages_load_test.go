// Many clients read pages while the objects change.

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

	"example.com/informer/scripts/harness/must"
)

// A changingObject is a ConfigMap that the test creates, updates, deletes and creates again. Its
// changes have numbers. The number of the last change determines the state of the object.
type changingObject struct {
	name   string
	sent   atomic.Int64 // the last change that the watch has sent; the store may have it
	cached atomic.Int64 // the last change that the store is known to have: no page may show an earlier state
}

// deletedBy is true if the object does not exist after this change.
func deletedBy(change int64) bool { return change%7 == 0 }

// existsAfter is true if the object exists after this change.
func existsAfter(change int64) bool { return !deletedBy(change) }

// colourAfter is the value of the label colour after this change.
func colourAfter(change int64) string {
	if change%2 == 0 {
		return "red"
	}
	return "blue"
}

// change sends the next change over the watch.
func (o *changingObject) change(events *watch.FakeWatcher) {
	change := o.sent.Add(1)
	number := strconv.FormatInt(change, 10)
	configMap := &corev1.ConfigMap{
		ObjectMeta: object(o.name, "colour="+colourAfter(change)),
		Data:       map[string]string{"change": number},
	}
	configMap.ResourceVersion = number
	switch {
	case deletedBy(change):
		events.Delete(configMap)
	case deletedBy(change - 1):
		events.Add(configMap)
	default:
		events.Modify(configMap)
	}
}

// A pageReader reads pages, and checks them. It remembers which state of each object it has seen.
type pageReader struct {
	url     string
	http    http.Client
	objects []*changingObject
	seen    map[*changingObject]int64 // a page has to show the state after this change, or a later state
}

// readAll reads the list, the lists of objects with a label, and the page of one object.
func (r *pageReader) readAll(single *changingObject) error {
	if err := r.readList("/configmaps", existsAfter); err != nil {
		return err
	}
	for _, colour := range []string{"red", "blue"} {
		matches := func(change int64) bool { return existsAfter(change) && colourAfter(change) == colour }
		if err := r.readList("/configmaps?label=colour%3D"+colour, matches); err != nil {
			return err
		}
	}
	return r.readObject("/configmaps/ns/"+single.name, single)
}

// readList reads a list, and checks it. The list has to contain the objects whose state matches.
func (r *pageReader) readList(path string, matches func(change int64) bool) error {
	r.noteCached(r.objects...)
	status, body, err := r.get(path)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s: status %d, want %d\n%.1000s", path, status, http.StatusOK, body)
	}
	var listed []corev1.ConfigMap
	if err := json.Unmarshal(body, &listed); err != nil {
		return fmt.Errorf("GET %s: %w\n%.1000s", path, err, body)
	}
	if err := r.checkList(listed, matches); err != nil {
		return fmt.Errorf("GET %s: %w\n%.1000s", path, err, body)
	}
	return nil
}

// checkList checks the objects of a list. The list and r.objects have the same order.
func (r *pageReader) checkList(listed []corev1.ConfigMap, matches func(change int64) bool) error {
	for _, o := range r.objects {
		if len(listed) == 0 || listed[0].Name != o.name {
			if err := r.checkMissing(o, matches); err != nil {
				return err
			}
			continue
		}
		if err := r.checkShown(o, &listed[0], matches); err != nil {
			return err
		}
		listed = listed[1:]
	}
	if len(listed) > 0 {
		return fmt.Errorf("%s is unknown, listed twice, or not in its place", listed[0].Name)
	}
	return nil
}

// readObject reads the page of one object, and checks it.
func (r *pageReader) readObject(path string, o *changingObject) error {
	r.noteCached(o)
	status, body, err := r.get(path)
	if err != nil {
		return err
	}
	switch status {
	case http.StatusOK:
		var shown corev1.ConfigMap
		err = json.Unmarshal(body, &shown)
		if err == nil {
			err = r.checkShown(o, &shown, existsAfter)
		}
	case http.StatusNotFound:
		err = json.Unmarshal(body, new(struct{ Error string }))
		if err == nil {
			err = r.checkMissing(o, existsAfter)
		}
	default:
		err = fmt.Errorf("status %d, want %d or %d", status, http.StatusOK, http.StatusNotFound)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w\n%.1000s", path, err, body)
	}
	return nil
}

// noteCached notes what the store has now. A page that is read later must not show an earlier
// state.
func (r *pageReader) noteCached(objects ...*changingObject) {
	for _, o := range objects {
		r.seen[o] = max(r.seen[o], o.cached.Load())
	}
}

func (r *pageReader) get(path string) (status int, body []byte, err error) {
	response, err := r.http.Get(r.url + path)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("GET %s: %w", path, err)
	}
	return response.StatusCode, body, nil
}

// checkMissing checks an object that a page does not show: in one of its possible states, the
// object must not match.
func (r *pageReader) checkMissing(o *changingObject, matches func(change int64) bool) error {
	first, last := r.seen[o], o.sent.Load()
	for change := first; change <= last; change++ {
		if !matches(change) {
			r.seen[o] = change
			return nil
		}
	}
	return fmt.Errorf("%s is missing, want it in the state after one of the changes %d to %d", o.name, first, last)
}

// checkShown checks an object that a page shows: it must be in a possible state, and this state
// must match.
func (r *pageReader) checkShown(o *changingObject, shown *corev1.ConfigMap, matches func(change int64) bool) error {
	first, last := r.seen[o], o.sent.Load()
	change, err := strconv.ParseInt(shown.Data["change"], 10, 64)
	if err != nil {
		return fmt.Errorf("%s has no number of a change: %w", o.name, err)
	}
	if shown.ResourceVersion != shown.Data["change"] {
		return fmt.Errorf("%s has version %s, want %d as in its data", o.name, shown.ResourceVersion, change)
	}
	if got, want := shown.Labels["colour"], colourAfter(change); got != want {
		return fmt.Errorf("%s has the label colour=%s after change %d, want %s", o.name, got, change, want)
	}
	if shown.Kind != "ConfigMap" {
		return fmt.Errorf("%s has kind %q, want ConfigMap", o.name, shown.Kind)
	}
	if change < first || change > last {
		return fmt.Errorf("%s is shown after change %d, want one of the changes %d to %d", o.name, change, first, last)
	}
	if !matches(change) {
		return fmt.Errorf("%s is shown after change %d, want that it is missing in this state", o.name, change)
	}
	r.seen[o] = change
	return nil
}

// The server admits 64 clients at the same time. None of them gets an error or an incomplete
// object. None of them gets a state that is older than what the same client has seen before, or
// than what the store had when the client asked.
func TestPagesUnderLoad(t *testing.T) {
	const clients, rounds, count = 64, 10, 20
	client, events := fake.NewClientset(), watch.NewFake()
	client.PrependWatchReactor("configmaps", clienttesting.DefaultWatchReactor(events, nil))
	url, f := serveStarted(t, client, false)
	objects := make([]*changingObject, count)
	byName := map[string]*changingObject{}
	for i := range objects {
		objects[i] = &changingObject{name: fmt.Sprintf("object-%02d", i)}
		byName[objects[i].name] = objects[i]
	}
	noteCached := func(obj any) { // the handler is called after the store has the object
		configMap := obj.(*corev1.ConfigMap)
		change, err := strconv.ParseInt(configMap.Data["change"], 10, 64)
		if err != nil {
			t.Errorf("the handler got %s without the number of a change: %v", configMap.Name, err)
		}
		byName[configMap.Name].cached.Store(change)
	}
	_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    noteCached,
		UpdateFunc: func(_, obj any) { noteCached(obj) },
		DeleteFunc: noteCached,
	})
	must.NoError(t, err)

	writeCtx, stopWriting := context.WithCancel(t.Context())
	var reading, writing sync.WaitGroup
	writing.Go(func() {
		for writeCtx.Err() == nil {
			for _, o := range objects {
				o.change(events)
			}
			time.Sleep(time.Millisecond) // leaves processor time for the readers
		}
	})
	for n := range clients {
		reading.Go(func() {
			r := &pageReader{
				url:     url,
				http:    http.Client{Transport: &http.Transport{}, Timeout: time.Minute}, // its own connection
				objects: objects,
				seen:    map[*changingObject]int64{},
			}
			defer r.http.CloseIdleConnections()
			for i := range rounds {
				if err := r.readAll(objects[(n+i)%count]); err != nil {
					t.Errorf("client %d: %v", n, err)
					return
				}
			}
		})
	}
	reading.Wait()
	stopWriting()
	writing.Wait()
	changes := objects[0].sent.Load()
	t.Logf("%d answers, during %d changes of each of %d objects", 4*clients*rounds, changes, count)
	if changes < 7 {
		t.Errorf("each object has changed %d times, want at least 7: no object was deleted", changes)
	}
}
