// The state of a queue of chapter 01, and the captions about it.

package recorder

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

const (
	maxShownItems  = 4 // of a queue
	maxShownDeltas = 4 // of a key

	// popPause is the shortest time between two captions about pops of several deltas.
	popPause = 5 * time.Second

	maxNames = 3 // in a caption
)

// The sections of the book that explain what captions about a queue are about.
const (
	sectionGrouped  = "docs/01-deltafifo.md#deltas-one-pop-gives-all-that-happened-to-one-pod"
	sectionReplace  = "docs/01-deltafifo-known-objects.md#replace-a-new-list-and-the-tombstones-of-what-it-lacks"
	sectionUnknown  = "docs/01-deltafifo-known-objects.md#known-deleting-what-was-popped-already"
	sectionRealFIFO = "docs/01-deltafifo-known-objects.md#realfifo-the-same-calls-popped-in-the-order-of-arrival"
	sectionLoopPops = "docs/05-watchdog.md#the-queue-and-which-one"
)

// The events of an ObservedQueue. A list that waits is only counted: the informer uses its memory again
// when it is popped.
type (
	deltaQueued struct {
		key     string
		word    string                  // for the delta, as on a chip
		grouped bool                    // behind the deltas of its key
		change  *processor.Notification // for its chip; nil if no object travels
	}

	deltasPopped struct {
		key     string
		words   []string
		version string // that the store will have, if it is not that of an object
	}

	deltaDropped struct {
		key    string
		second bool // a delete of the same object waits
	}

	listCompared struct {
		listed  int
		missing []string
		inQueue bool // by the queue, when the list came; else by the informer, after the pop
	}
)

// deltaWord says in a word what a delta is, as changeWord does for a notification.
func deltaWord(delta cache.Delta) string {
	switch delta.Type {
	case cache.Added:
		return "add"
	case cache.Updated:
		return "update"
	case cache.Replaced, cache.ReplacedAll:
		return "listed"
	case cache.Sync, cache.SyncAll:
		return "resync"
	case cache.Bookmark:
		return "bookmark"
	}
	if _, ok := delta.Object.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone"
	}
	return "delete"
}

// deltaKey returns the key of an object, or the name of what is not about one object.
func deltaKey(delta cache.Delta) string {
	switch info := delta.Object.(type) {
	case cache.ReplacedAllInfo:
		return "list of " + Plural(len(info.Objects), "object")
	case cache.BookmarkInfo:
		return "bookmark " + info.ResourceVersion
	case cache.SyncAllInfo:
		return "resync of all"
	}
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(delta.Object)
	return key
}

// changeOf returns a delta as a change, for its chip. The word of the chip is the delta's.
func changeOf(key string, delta cache.Delta) *processor.Notification {
	switch delta.Type {
	case cache.Bookmark, cache.SyncAll:
		return nil
	case cache.ReplacedAll:
		return &processor.Notification{Kind: processor.Updated, Key: key}
	case cache.Deleted:
		return &processor.Notification{Kind: processor.Deleted, Key: key, New: delta.Object}
	}
	return &processor.Notification{Kind: processor.Updated, Key: key, New: delta.Object}
}

// A queueState has the words of the deltas that wait, and no objects.
type queueState struct {
	items   []*queueItem // that wait, the first to be popped first
	byKey   map[string]*queueItem
	waiting int // deltas

	pops, dropped int
	popped        *queueItem    // the last one
	compared      *comparedView // the last list

	explainPop     bool      // a caption is due about the last pop
	lastPopCaption time.Time // when the last such caption was due
}

// A queueItem is what one Pop returns.
type queueItem struct {
	Key    string   `json:"key"`
	Deltas []string `json:"deltas"` // words
}

// short returns an item with the deltas that the page shows.
func (q *queueItem) short() queueItem {
	if len(q.Deltas) <= maxShownDeltas {
		return *q
	}
	shown := maxShownDeltas - 1
	more := fmt.Sprintf("%s more", withCommas(len(q.Deltas)-shown))
	return queueItem{q.Key, append(slices.Clone(q.Deltas[:shown]), more)}
}

func newQueueState() queueState { return queueState{byKey: map[string]*queueItem{}} }

// apply applies an event of the queue. It ignores those of other parts.
func (q *queueState) apply(what any, at time.Time) {
	switch w := what.(type) {
	case deltaQueued:
		q.waiting++
		item := q.byKey[w.key]
		if item == nil || !w.grouped {
			item = &queueItem{Key: w.key}
			q.items = append(q.items, item)
			q.byKey[w.key] = item
		}
		item.Deltas = append(item.Deltas, w.word)
	case deltasPopped:
		q.pops++
		q.popped = &queueItem{w.key, w.words}
		q.remove(w.key, len(w.words))
		q.explainPop = len(w.words) > 1 && at.Sub(q.lastPopCaption) >= popPause
		if q.explainPop {
			q.lastPopCaption = at
		}
	case deltaDropped:
		q.dropped++
	case listCompared:
		q.compared = &comparedView{Listed: w.listed, Missing: len(w.missing), Names: names(w.missing)}
	}
}

// remove removes the first deltas of a key. A delta that was reported, and that the queue got only after
// the pop, stays.
func (q *queueState) remove(key string, deltas int) {
	i := slices.IndexFunc(q.items, func(item *queueItem) bool { return item.Key == key })
	if i < 0 {
		return
	}
	item := q.items[i]
	deltas = min(deltas, len(item.Deltas))
	q.waiting -= deltas
	item.Deltas = item.Deltas[deltas:]
	q.items = slices.Delete(q.items, i, i+1)
	delete(q.byKey, key)
	if len(item.Deltas) > 0 {
		q.items = append(q.items, item)
		q.byKey[key] = item
	}
}

// A queueView is a queue as the page shows it.
type queueView struct {
	Name     string        `json:"name"`
	Loop     Speed         `json:"loop"`    // of the loop that pops
	Waiting  int           `json:"waiting"` // deltas
	Items    []queueItem   `json:"items"`   // the first that wait
	More     int           `json:"more"`    // items that are not in Items
	Pops     int           `json:"pops"`
	Dropped  int           `json:"dropped"`
	Popped   *queueItem    `json:"popped"`
	Compared *comparedView `json:"compared"`
}

// A comparedView says what a list was compared with.
type comparedView struct {
	Listed  int    `json:"listed"`
	Missing int    `json:"missing"` // objects that the list lacks
	Names   string `json:"names"`   // of some of them
}

func (q *queueState) station(name string, loop Speed) queueView {
	v := queueView{
		Name: name, Loop: loop, Waiting: q.waiting, Items: []queueItem{}, Pops: q.pops, Dropped: q.dropped,
		Compared: q.compared,
	}
	for _, item := range q.items[:min(len(q.items), maxShownItems)] {
		v.Items = append(v.Items, item.short())
	}
	v.More = len(q.items) - len(v.Items)
	if q.popped != nil {
		v.Popped = new(q.popped.short())
	}
	return v
}

// names returns the names of some keys, for a sentence.
func names(keys []string) string {
	var all []string
	for _, key := range keys[:min(len(keys), maxNames)] {
		all = append(all, clip(nameOf(key)))
	}
	if more := len(keys) - len(all); more > 0 {
		all = append(all, withCommas(more)+" more")
	}
	return strings.Join(all, ", ")
}

func loopCaption(speed Speed) *caption {
	switch speed {
	case Stalled:
		return newCaption(sectionLoopPops, "The loop pops nothing more, as if its work did not end. "+
			"The reflector goes on: deltas wait in the queue.")
	case Slow:
		return newCaption(sectionLoopPops, "The loop waits %v before each pop. Deltas wait in the queue.", SlowCall)
	}
	return nil
}

// queueCaption returns the caption of an event of a queue, after it was applied.
func queueCaption(what any, i *informerState) *caption {
	switch w := what.(type) {
	case deltaQueued:
		if others := i.queue.waiting - 1; w.word == "listed" && !w.grouped && others > 0 {
			return newCaption(sectionRealFIFO, "%s: the list waits as one delta, behind %s. "+
				"It is compared with the store when it is popped.", i.Queue, Plural(others, "other delta"))
		}
	case deltasPopped:
		if i.queue.explainPop {
			return newCaption(sectionGrouped, "%s: one pop returns %s of %s. The loop applies each of them.", i.Queue,
				Plural(len(w.words), "delta"), clip(nameOf(w.key)))
		}
	case deltaDropped:
		if w.second {
			return newCaption(sectionReplace, "%s: a delete of %s waits, so the second one in a row is dropped.",
				i.Queue, clip(nameOf(w.key)))
		}
		return newCaption(sectionUnknown, "%s: the delete of %s is dropped, because nobody knows the object.",
			i.Queue, clip(nameOf(w.key)))
	case listCompared:
		return comparedCaption(w, i)
	}
	return nil
}

func comparedCaption(w listCompared, i *informerState) *caption {
	missing := "Nothing is missing in it."
	if len(w.missing) > 0 {
		missing = "Missing in it: " + names(w.missing) + "."
	}
	list := "list of " + Plural(w.listed, "object")
	switch {
	case w.inQueue && i.reflector.version == "": // the first list: there is nothing to compare with
	case w.inQueue:
		return newCaption(sectionReplace, "%s: the %s is compared with what waits and what is stored. %s", i.Queue,
			list, missing)
	case i.Queue != "" && i.store.keys.size() > 0:
		return newCaption(sectionRealFIFO, "%s: the %s was popped, and is compared with the store. %s", i.Queue, list,
			missing)
	}
	return nil
}
