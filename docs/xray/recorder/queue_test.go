// The state of the queues, and the captions about them.

package recorder

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

// newQueueRecorder returns a recorder of two informers with these queues.
func newQueueRecorder(first, second string) *Recorder {
	o := newRecorder().Options
	o.Parts = map[Implementation]Parts{
		Ours: {Queue: first, Fanout: Channels}, Second: {Queue: second, Fanout: Channels},
	}
	return New(o)
}

// observed returns a queue that reports to a recorder.
func observed(r *Recorder, i Implementation, queue informer.Queue, known cache.KeyListerGetter) *ObservedQueue {
	q := NewObservedQueue(queue, known)
	q.SetObserver(r.Observer(i))
	return q
}

// A DeltaFIFO groups what waits by key. It compares a list when it comes, and drops a second delete.
func TestTheStateOfADeltaFIFO(t *testing.T) {
	r := newQueueRecorder("DeltaFIFO", "")
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := observed(r, Ours, informer.DeltaFIFO(known), known)
	a1, a2, b := configMap("a", "1", ""), configMap("a", "2", ""), configMap("b", "3", "")
	wantStation(t, r, "queue", `{"name":"DeltaFIFO","loop":"fast","waiting":0,"items":[],"compared":null}`)

	must.NoError(t, q.Replace([]any{a1}, "1"))
	r.feed(observer.Listed{Objects: 1, Version: "1"})
	for _, c := range r.captions(t) { // the first list is compared with nothing
		if c.Section == sectionReplace {
			t.Errorf("caption %q about the first list, want none", c.Text)
		}
	}
	must.NoError(t, known.Add(a1))
	must.NoError(t, q.Pop(func(cache.Deltas, bool) error { return nil }))
	must.NoError(t, q.Update(a2))
	must.NoError(t, q.Add(b))
	must.NoError(t, q.Delete(a2))
	r.tick()
	wantStation(t, r, "queue", `{"waiting":3,"pops":1,"popped":{"key":"ns/a","deltas":["listed"]},"more":0,
		"items":[{"key":"ns/a","deltas":["update","delete"]},{"key":"ns/b","deltas":["add"]}]}`)

	must.NoError(t, q.Replace([]any{b}, "4"))                // it lacks a, whose delete waits already
	must.NoError(t, q.Delete(configMap("unknown", "5", ""))) // nobody knows it
	r.tick()
	wantStation(t, r, "queue", `{"waiting":4,"dropped":2,"compared":{"listed":1,"missing":1,"names":"a"},
		"items":[{"key":"ns/a","deltas":["update","delete"]},{"key":"ns/b","deltas":["add","listed"]}]}`)
	r.wantCaption(t, sectionReplace,
		"DeltaFIFO: the list of 1 object is compared with what waits and what is stored. Missing in it: a.")
	r.wantCaption(t, sectionReplace, "DeltaFIFO: a delete of a waits, so the second one in a row is dropped.")
	r.wantCaption(t, sectionUnknown, "DeltaFIFO: the delete of unknown is dropped, because nobody knows the object.")

	must.NoError(t, q.Pop(func(cache.Deltas, bool) error { return nil }))
	r.tick()
	wantStation(t, r, "queue", `{"waiting":2,"pops":2,"popped":{"key":"ns/a","deltas":["update","delete"]},
		"items":[{"key":"ns/b","deltas":["add","listed"]}]}`)
	r.wantCaption(t, sectionGrouped, "DeltaFIFO: one pop returns 2 deltas of a. The loop applies each of them.")
}

// A RealFIFO keeps each delta by itself, and a list as one. The list is compared when it is popped.
func TestTheStateOfARealFIFO(t *testing.T) {
	r := newQueueRecorder("", "RealFIFO")
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := observed(r, Second, informer.RealFIFO(known), known)
	a, b := configMap("a", "1", ""), configMap("b", "2", "")
	must.NoError(t, q.Add(a))
	must.NoError(t, q.Delete(cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: a}))
	must.NoError(t, q.Replace([]any{a, b}, "3"))
	must.NoError(t, q.Resync())
	must.NoError(t, q.Bookmark("4"))
	must.NoError(t, q.Update(b))
	r.tick()
	wantStation(t, r, "second/queue", `{"name":"RealFIFO","waiting":6,"more":2,"items":[
		{"key":"ns/a","deltas":["add"]},{"key":"ns/a","deltas":["tombstone"]},
		{"key":"list of 2 objects","deltas":["listed"]},{"key":"resync of all","deltas":["resync"]}]}`)
	r.wantCaption(t, sectionRealFIFO, "RealFIFO: the list waits as one delta, behind 2 other deltas. "+
		"It is compared with the store when it is popped.")

	for range 5 {
		must.NoError(t, q.Pop(func(cache.Deltas, bool) error { return nil }))
	}
	r.tick()
	wantStation(t, r, "second/queue", `{"waiting":1,"pops":5,"dropped":0,
		"popped":{"key":"bookmark 4","deltas":["bookmark"]},"items":[{"key":"ns/b","deltas":["update"]}]}`)
	wantStation(t, r, "second/store", `{"version":"4"}`)
	wantStation(t, r, "store", `{"version":""}`) // that of the other informer

	second := r.Observer(Second)
	second.Observe(stored(processor.Added, nil, a))
	second.Observe(listCompared{listed: 2, missing: []string{"ns/c", "ns/d", "ns/e", "ns/f", "ns/g"}})
	r.tick()
	wantStation(t, r, "second/queue", `{"compared":{"listed":2,"missing":5,"names":"c, d, e, 2 more"}}`)
	r.wantCaption(t, sectionRealFIFO, "RealFIFO: the list of 2 objects was popped, and is compared with the store. "+
		"Missing in it: c, d, e, 2 more.")
}

// Of many deltas of a key, and of many keys, the page gets the first ones.
func TestALongQueue(t *testing.T) {
	r := newQueueRecorder("DeltaFIFO", "")
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := observed(r, Ours, informer.DeltaFIFO(known), known)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		for range 1100 {
			must.NoError(t, q.Update(configMap(name, "1", "")))
		}
	}
	r.tick()
	var want []string
	for _, name := range []string{"a", "b", "c", "d"} {
		want = append(want, `{"key":"ns/`+name+`","deltas":["update","update","update","1,097 more"]}`)
	}
	wantStation(t, r, "queue", `{"waiting":6600,"more":2,"items":[`+want[0]+","+want[1]+","+want[2]+","+want[3]+`]}`)
}

// Chips go through the queue of an informer that has one, and from a second informer's parts to its
// handlers.
func TestWhereChipsTravelWithAQueue(t *testing.T) {
	r := newQueueRecorder("DeltaFIFO", "")
	a := configMap("a", "1", "")
	added := processor.Notification{Kind: processor.Added, Key: "ns/a", New: a}
	for _, implementation := range []Implementation{Ours, Second} {
		observe := r.Observer(implementation).Observe
		observe(HandlerJoined{"fast"})
		if implementation == Ours {
			listed := processor.Notification{Kind: processor.Updated, Key: "ns/a", New: a}
			observe(deltaQueued{"ns/a", "listed", true, &listed})
		}
		observe(informer.Stored{Notification: added})
		observe(processor.Appended{Notification: added})
		observe(HandlerCalled{Name: "fast", Change: added})
	}
	r.tick()
	r.wantChips(t,
		"reflector > queue: listed",
		"queue > store: add",
		"store > channels: add",
		"channels > handlers/fast: add",
		"second/reflector > second/store: add",
		"second/store > second/channels: add",
		"second/channels > second/handlers/fast: add",
	)
}

// The loops that pop have a speed, and the page shows it.
func TestTheSpeedOfTheLoops(t *testing.T) {
	r := newQueueRecorder("DeltaFIFO", "RealFIFO")
	r.RecordLoop(Stalled)
	r.tick()
	wantStation(t, r, "queue", `{"loop":"stalled"}`)
	wantStation(t, r, "second/queue", `{"loop":"stalled"}`)
	r.wantCaption(t, sectionLoopPops, "The loop pops nothing more, as if its work did not end. "+
		"The reflector goes on: deltas wait in the queue.")
}

// With channels, a caption speaks of the buffer of a handler, and not of the journal.
func TestTheCaptionOfAStalledHandlerWithChannels(t *testing.T) {
	r := newQueueRecorder("RealFIFO", "")
	r.RecordSpeed("slow", Stalled)
	r.tick()
	r.wantCaption(t, sectionSlow, "slow stalls: its next call does not return. "+
		"Its buffer keeps all that comes; the others do not wait for it.")
}
