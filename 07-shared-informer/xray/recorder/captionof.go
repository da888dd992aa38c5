// Which events get a caption.

package recorder

import (
	"time"

	"example.com/informer/03-reflector/observer"
)

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
		return newCaption(sectionStalled, "%s stalls: its next call does not return. The others are not held up.",
			e.Handler)
	case Slow:
		return newCaption(sectionSlow, "%s takes %v for each call. The others are not held up.", e.Handler, SlowCall)
	}
	return nil
}

func reflectorCaption(e *event, r *reflectorState) *caption {
	switch e.Kind {
	case observer.Listing:
		return listingCaption(r)
	case observer.Listed:
		if r.doing == watching {
			return newCaption(sectionStream, "The streamed list is complete, %s, and its watch goes on.",
				Plural(e.Count, "object"))
		}
		return newCaption(sectionList, "The list is there: %s, as of version %s.", Plural(e.Count, "object"), e.Version)
	case observer.Watching:
		return newCaption(sectionWatch, "The reflector asks for a watch from version %s: "+
			"what it missed since comes as events.", e.Version)
	case observer.LeftOut:
		return newCaption(sectionLeftOut, "An event is left out: %s.", clip(e.Err.Error()))
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
		return newCaption(sectionStream, "The reflector asks for a list%s, streamed over the watch.", again)
	}
	return newCaption(sectionList, "The reflector asks for a list%s.", again)
}

func storeCaption(e *event, s *storeState) *caption {
	switch change := e.change(); {
	case change == "tombstone":
		return newCaption(sectionTombstone,
			"%s is not in the list: handlers get a tombstone, with its last known state.", e.name())
	case change == "update" && metadataOf(e.Old).GetUID() != metadataOf(e.New).GetUID():
		return newCaption(sectionRecreated, "%s was deleted and created again while nobody watched: "+
			"that is one update, to another UID.", e.name())
	case s.recreated:
		return newCaption(sectionRecreated,
			"%s was deleted and created again: a delete, then an add, with another UID.", e.name())
	}
	return nil
}

func handlerCaption(e *event, s *state) *caption {
	objects := s.store.keys.size()
	h := s.handlers[Ours][e.Handler]
	switch {
	case e.Kind == observer.Removed:
		return newCaption(sectionRemoved, "%s is removed. What waited for it is dropped.", e.Handler)
	case e.Kind == observer.Joined && objects > 0:
		return newCaption(sectionLate, "%s joins late. It gets %s from a snapshot of the store.", e.Handler,
			Plural(objects, "initial add"))
	case h == nil: // it was removed while the call went on
	case e.Kind == observer.Folded && h.explainFold:
		return newCaption(sectionStalled, "%s is far behind: %s became %s.", e.Handler,
			Plural(e.Count+e.Waiting, "notification"), withCommas(e.Waiting))
	case e.Kind == observer.Called && h.caughtUp:
		return newCaption(sectionStalled, "%s has caught up, with %s; %s more were folded away.", e.Handler,
			Plural(h.calls-h.atFirstFold.calls, "call"), withCommas(h.folded-h.atFirstFold.folded))
	}
	return nil
}
