// Captions: which events are explained, in which words, and where the book has more.

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
	linkStalled   = "/xray/book/06-processor-in-trouble.md#stalled-what-is-kept-for-a-handler-that-is-stuck"
	linkSlow      = "/xray/book/06-processor.md#slow-nobody-is-held-up"
	LinkIndex     = "/xray/book/07-shared-informer-at-work.md#index-pods-by-the-label-app-live"
	LinkInformer  = "/xray/book/07-shared-informer-one-of-our-own.md#the-informer"
)

// foldPause is how long no other caption is about the folding of the same handler.
const foldPause = time.Minute

// captionOf explains an event, which the state has taken into account. Most events
// need no words: then it is nil.
func captionOf(e *event, s *state) *caption {
	explain := func(link, format string, args ...any) *caption {
		return &caption{fmt.Sprintf(format, args...), link}
	}
	h, change, again := s.handlers[Ours][e.Handler], e.change(), ""
	if s.reached != "" {
		again = " again (a relist)"
	}
	switch {
	case e.Kind == action:
		return e.caption
	case e.lane == Theirs: // what happens there, happens in our lane, too
	case e.Kind == paceSet && e.Type == Stalled:
		return explain(linkStalled, "%s stalls: its next call does not return. The others are not held up.", e.Handler)
	case e.Kind == paceSet && e.Type == Slow:
		return explain(linkSlow, "%s takes %v for each call. The others are not held up.", e.Handler, SlowCall)
	case e.Kind == observer.Listing && s.doing == "streaming":
		return explain(linkStream, "The reflector asks for a list%s, streamed over the watch.", again)
	case e.Kind == observer.Listing:
		return explain(linkList, "The reflector asks for a list%s.", again)
	case e.Kind == observer.Listed && s.doing == "watching":
		return explain(linkStream, "The streamed list is complete, %s, and its watch goes on.",
			Count(e.Count, "object"))
	case e.Kind == observer.Listed:
		return explain(linkList, "The list is there: %s, as of version %s.", Count(e.Count, "object"), e.Version)
	case e.Kind == observer.Watching:
		return explain(linkWatch, "The reflector asks for a watch from version %s: "+
			"what it missed since comes as events.", e.Version)
	case e.Kind == observer.Expired:
		return explain(linkExpired, "410 Expired: the server no longer has this version. Only a new list helps.")
	case e.Kind == observer.Ended && e.Err == nil:
		return explain(linkLoop, "The watch has ended, without an error. Another one can go on from version %s.",
			s.reached)
	case e.Kind == observer.Ended:
		return explain(LinkCut, "The connection is lost, or the list or the watch failed. The store stays as it was.")
	case e.Kind == observer.LeftOut:
		return explain(linkLeftOut, "An event is left out: %s.", clip(e.Err.Error()))
	case e.Kind == observer.BackingOff:
		return explain(linkLoop, "The reflector waits %v before it tries again.", e.Took.Round(100*time.Millisecond))
	case e.Kind == observer.Stored && change == "tombstone":
		return explain(linkTombstone, "%s is not in the list: handlers get a tombstone, with its last known state.",
			e.name())
	case e.Kind == observer.Stored && change == "update" && about(e.Old).GetUID() != about(e.New).GetUID():
		return explain(linkRecreated, "%s was deleted and created again while nobody watched: "+
			"that is one update, to another UID.", e.name())
	case e.Kind == observer.Stored && s.recreated:
		return explain(linkRecreated, "%s was deleted and created again: a delete, then an add, with another UID.",
			e.name())
	case e.Kind == observer.Folded && h != nil && e.at.Sub(h.mentioned) >= foldPause:
		h.mentioned = e.at
		return explain(linkStalled, "%s is far behind: %s became %s.", e.Handler,
			Count(e.Count+e.Waiting, "notification"), grouped(e.Waiting))
	case e.Kind == observer.Called && h != nil && h.caughtUp:
		return explain(linkStalled, "%s has caught up, with %s; %s more were folded away.", e.Handler,
			Count(h.calls-h.before.calls, "call"), grouped(h.folded-h.before.folded))
	case e.Kind == observer.Joined && len(s.keys.at) > 0:
		return explain(linkLate, "%s joins late. It gets %s from a snapshot of the store.", e.Handler,
			Count(len(s.keys.at), "initial add"))
	case e.Kind == observer.Removed:
		return explain(linkRemoved, "%s is removed. What waited for it is dropped.", e.Handler)
	}
	return nil
}
