// Captions: the sentences that explain events.

package recorder

import (
	"fmt"
	"time"

	"example.com/informer/03-reflector/observer"
)

// The sections of the book that captions link to.
const (
	linkStream    = "/xray/book/03-reflector.md#stream-the-start-with-and-without-watchlist"
	linkList      = "/xray/book/03-reflector-one-of-our-own.md#the-list"
	linkWatch     = "/xray/book/03-reflector.md#version-where-a-reconnect-goes-on"
	linkLoop      = "/xray/book/03-reflector-one-of-our-own.md#loop-one-decision-after-the-other"
	linkLeftOut   = "/xray/book/03-reflector-one-of-our-own.md#the-watch"
	LinkCut       = "/xray/book/03-reflector.md#relist-what-was-missed-during-a-cut"
	linkExpired   = "/xray/book/03-reflector-one-of-our-own.md#expired-the-server-has-forgotten-the-version"
	linkTombstone = "/xray/book/05-watchdog-start-and-end.md#tombstone-a-delete-that-nobody-saw"
	linkRecreated = "/xray/book/05-watchdog-start-and-end.md#where-people-trip"
	LinkResync    = "/xray/book/07-shared-informer-one-of-our-own.md#resync-the-store-once-more-without-a-request"
	linkLate      = "/xray/book/07-shared-informer-one-of-our-own.md#late-a-handler-joins-while-it-runs"
	linkRemoved   = "/xray/book/07-shared-informer-at-work.md#remove-a-handler-leaves"
	linkStalled   = "/xray/book/07-shared-informer-journal.md#stalled-what-is-kept-for-a-handler-that-is-stuck"
	linkSlow      = "/xray/book/06-processor.md#slow-nobody-is-held-up"
	LinkIndex     = "/xray/book/07-shared-informer-at-work.md#index-pods-by-the-label-app-live"
	LinkInformer  = "/xray/book/07-shared-informer-one-of-our-own.md#the-informer"
)

// A caption explains an event in a sentence, and links to a section of the book.
type caption struct {
	Text string `json:"text"`
	Link string `json:"link"`
}

func newCaption(link, format string, args ...any) *caption {
	return &caption{Text: fmt.Sprintf(format, args...), Link: link}
}

// captionOf returns the caption of an event that was applied to the state. Most events need no
// words: it returns nil.
func captionOf(e *event, s *state) *caption {
	if e.Kind == action {
		return e.caption
	}
	if e.implementation == ClientGo { // the same happens in our informer
		return nil
	}
	switch e.Kind {
	case speedSet:
		return speedCaption(e)
	case observer.Stored:
		return storeCaption(e, &s.store)
	case observer.Joined, observer.Called, observer.Folded, observer.Removed:
		return handlerCaption(e, s)
	}
	return reflectorCaption(e, &s.reflector)
}

func speedCaption(e *event) *caption {
	switch e.speed {
	case Stalled:
		return newCaption(linkStalled, "%s stalls: its next call does not return. The others are not held up.",
			e.Handler)
	case Slow:
		return newCaption(linkSlow, "%s takes %v for each call. The others are not held up.", e.Handler, SlowCall)
	}
	return nil
}

func reflectorCaption(e *event, r *reflectorState) *caption {
	switch e.Kind {
	case observer.Listing:
		return listingCaption(r)
	case observer.Listed:
		if r.doing == watching {
			return newCaption(linkStream, "The streamed list is complete, %s, and its watch goes on.",
				Plural(e.Count, "object"))
		}
		return newCaption(linkList, "The list is there: %s, as of version %s.", Plural(e.Count, "object"), e.Version)
	case observer.Watching:
		return newCaption(linkWatch, "The reflector asks for a watch from version %s: "+
			"what it missed since comes as events.", e.Version)
	case observer.LeftOut:
		return newCaption(linkLeftOut, "An event is left out: %s.", clip(e.Err.Error()))
	case observer.Expired:
		return newCaption(linkExpired, "410 Expired: the server no longer has this version. Only a new list helps.")
	case observer.Ended:
		if e.Err == nil {
			return newCaption(linkLoop,
				"The watch has ended, without an error. Another one can go on from version %s.", r.version)
		}
		return newCaption(LinkCut,
			"The connection is lost, or the list or the watch failed. The store stays as it was.")
	case observer.BackingOff:
		return newCaption(linkLoop, "The reflector waits %v before it tries again.",
			e.Took.Round(100*time.Millisecond))
	}
	return nil
}

func listingCaption(r *reflectorState) *caption {
	again := ""
	if r.version != "" {
		again = " again (a relist)"
	}
	if r.doing == streaming {
		return newCaption(linkStream, "The reflector asks for a list%s, streamed over the watch.", again)
	}
	return newCaption(linkList, "The reflector asks for a list%s.", again)
}

func storeCaption(e *event, s *storeState) *caption {
	switch change := e.change(); {
	case change == "tombstone":
		return newCaption(linkTombstone,
			"%s is not in the list: handlers get a tombstone, with its last known state.", e.name())
	case change == "update" && metadataOf(e.Old).GetUID() != metadataOf(e.New).GetUID():
		return newCaption(linkRecreated, "%s was deleted and created again while nobody watched: "+
			"that is one update, to another UID.", e.name())
	case s.recreated:
		return newCaption(linkRecreated,
			"%s was deleted and created again: a delete, then an add, with another UID.", e.name())
	}
	return nil
}

func handlerCaption(e *event, s *state) *caption {
	objects := s.store.keys.size()
	h := s.handlers[Ours][e.Handler]
	switch {
	case e.Kind == observer.Removed:
		return newCaption(linkRemoved, "%s is removed. What waited for it is dropped.", e.Handler)
	case e.Kind == observer.Joined && objects > 0:
		return newCaption(linkLate, "%s joins late. It gets %s from a snapshot of the store.", e.Handler,
			Plural(objects, "initial add"))
	case h == nil: // it was removed while the call went on
	case e.Kind == observer.Folded && h.explainFold:
		return newCaption(linkStalled, "%s is far behind: %s became %s.", e.Handler,
			Plural(e.Count+e.Waiting, "notification"), withCommas(e.Waiting))
	case e.Kind == observer.Called && h.caughtUp:
		return newCaption(linkStalled, "%s has caught up, with %s; %s more were folded away.", e.Handler,
			Plural(h.calls-h.atFirstFold.calls, "call"), withCommas(h.folded-h.atFirstFold.folded))
	}
	return nil
}
