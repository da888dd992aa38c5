// Captions: the sentences that explain events, and which events get one.

package recorder

import (
	"fmt"
	"time"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
)

// The sections of the book that explain what captions are about.
const (
	sectionStream    = "docs/03-reflector.md#stream-the-start-with-and-without-watchlist"
	sectionList      = "docs/03-reflector-one-of-our-own.md#the-list"
	sectionWatch     = "docs/03-reflector.md#where-a-reconnect-goes-on"
	sectionLoop      = "docs/03-reflector-one-of-our-own.md#loop-one-decision-after-the-other"
	sectionLeftOut   = "docs/03-reflector-one-of-our-own.md#the-watch"
	SectionCut       = "docs/03-reflector.md#relist-what-was-missed-during-a-cut"
	sectionExpired   = "docs/03-reflector-one-of-our-own.md#expired-the-server-has-forgotten-the-version"
	sectionTombstone = "docs/05-watchdog-start-and-end.md#tombstone-a-delete-that-nobody-saw"
	sectionRecreated = "docs/05-watchdog-start-and-end.md#deleted-and-created-again-during-a-cut"
	SectionResync    = "docs/07-shared-informer-rules.md#resync-the-store-once-more-without-a-request"
	sectionLate      = "docs/07-shared-informer-one-of-our-own.md#a-handler-joins"
	sectionRemoved   = "docs/07-shared-informer-rules.md#remove-a-handler-leaves"
	sectionStalled   = "docs/07-shared-informer-journal.md#stalled-what-is-kept-for-a-handler-that-is-stuck"
	sectionSlow      = "docs/06-processor.md#slow-one-handler-does-not-delay-the-other"
	SectionIndex     = "docs/07-shared-informer-at-work.md#http-the-index-served"
	SectionInformer  = "docs/07-shared-informer-one-of-our-own.md#the-parts"
)

// A caption explains an event in a sentence, and names a section of the book.
type caption struct {
	Text    string `json:"text"`
	Section string `json:"section"`
}

func newCaption(section, format string, args ...any) *caption {
	return &caption{Text: fmt.Sprintf(format, args...), Section: section}
}

// captionOf returns the caption of an event that was applied to the state. Most events need no
// words: it returns nil.
func captionOf(e *event, s *state) *caption {
	if e.implementation == ClientGo { // the same happens in our informer
		return nil
	}
	i := s.informers[e.implementation]
	if c := queueCaption(e.what, i); c != nil || e.implementation == Second {
		return c // the queues differ; all else happens in the first informer, too
	}
	switch w := e.what.(type) {
	case action:
		return &w.caption
	case speedSet:
		return speedCaption(w, i.Fanout)
	case loopSet:
		return loopCaption(w.speed)
	case informer.Stored:
		return storeCaption(&w.Notification, &i.store)
	case HandlerJoined, HandlerCalled, handlerFolded, HandlerRemoved:
		return handlerCaption(e.what, s)
	}
	return reflectorCaption(e.what, &i.reflector)
}

func speedCaption(e speedSet, fanout string) *caption {
	switch {
	case e.speed == Stalled && fanout == Channels:
		return newCaption(sectionSlow, "%s stalls: its next call does not return. "+
			"Its buffer keeps all that comes; the others do not wait for it.", e.name)
	case e.speed == Stalled:
		return newCaption(sectionStalled, "%s stalls: its next call does not return. The others do not wait for it.",
			e.name)
	case e.speed == Slow:
		return newCaption(sectionSlow, "%s takes %v for each call. The others do not wait for it.", e.name, SlowCall)
	}
	return nil
}

func reflectorCaption(what any, r *reflectorState) *caption {
	switch e := what.(type) {
	case observer.Listing:
		return listingCaption(r)
	case observer.Listed:
		if r.doing == watching {
			return newCaption(sectionStream, "The streamed list is complete, %s, and its watch goes on.",
				Plural(e.Objects, "object"))
		}
		return newCaption(sectionList, "The list is there: %s, as of version %s.",
			Plural(e.Objects, "object"), e.Version)
	case observer.Watching:
		return newCaption(sectionWatch, "The reflector asks for a watch from version %s: "+
			"what it missed since comes as events.", e.Version)
	case observer.LeftOut:
		return newCaption(sectionLeftOut, "An event is left out: %s.", clip(e.Err.Error()))
	case informer.Refused:
		return newCaption(sectionLeftOut, "A change is left out: %s.", clip(e.Err.Error()))
	case observer.Expired:
		return newCaption(sectionExpired, "410 Expired: the server no longer has this version. Only a new list helps.")
	case observer.Ended:
		if e.Err == nil {
			return newCaption(sectionLoop,
				"The watch has ended, without an error. Another one can go on from version %s.", r.version)
		}
		return newCaption(SectionCut,
			"The connection is lost, or the list or the watch failed. The store stays as it was.")
	case observer.BackingOff:
		return newCaption(sectionLoop, "The reflector waits %v before it tries again.",
			e.Pause.Round(100*time.Millisecond))
	}
	return nil
}

func listingCaption(r *reflectorState) *caption {
	again := ""
	if r.version != "" {
		again = " again (a relist)"
	}
	if r.doing == streaming {
		return newCaption(sectionStream, "The reflector asks for a list%s, streamed over the watch.", again)
	}
	return newCaption(sectionList, "The reflector asks for a list%s.", again)
}

func storeCaption(n *processor.Notification, s *storeState) *caption {
	name := nameOf(n.Key)
	switch {
	case changeWord(n) == "tombstone":
		return newCaption(sectionTombstone,
			"%s is not in the list: handlers get a tombstone, with its last known state.", name)
	case n.Kind == processor.Updated && metadataOf(n.Old).GetUID() != metadataOf(n.New).GetUID():
		return newCaption(sectionRecreated, "%s was deleted and created again while nobody watched: "+
			"that is one update, to another UID.", name)
	case s.recreated:
		return newCaption(sectionRecreated,
			"%s was deleted and created again: a delete, then an add, with another UID.", name)
	}
	return nil
}

func handlerCaption(what any, s *state) *caption {
	handlers, objects := s.handlers[Ours], s.informers[Ours].store.keys.size()
	switch e := what.(type) {
	case HandlerRemoved:
		return newCaption(sectionRemoved, "%s is removed. What waited for it is dropped.", e.Name)
	case HandlerJoined:
		if objects > 0 {
			return newCaption(sectionLate, "%s joins late. It gets %s from the store.", e.Name,
				Plural(objects, "initial add"))
		}
	case handlerFolded:
		if h := handlers[e.name]; h != nil && h.explainFold {
			return newCaption(sectionStalled, "%s is far behind: %s became %s.", e.name,
				Plural(e.saved+e.waiting, "notification"), withCommas(e.waiting))
		}
	case HandlerCalled:
		if h := handlers[e.Name]; h != nil && h.caughtUp { // nil if it was removed while the call went on
			return newCaption(sectionStalled, "%s has caught up, with %s; %s more were folded away.", e.Name,
				Plural(h.calls-h.atFirstFold.calls, "call"), withCommas(h.folded-h.atFirstFold.folded))
		}
	}
	return nil
}
