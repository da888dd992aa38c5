// Captions: which events are explained, in which words, and where the book has more.

package xray

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"example.com/informer/03-reflector/observer"
)

// The sections of the book that captions link to.
const (
	linkStream    = "/xray/book/03-reflector.md#stream-the-start-with-and-without-watchlist"
	linkList      = "/xray/book/03-reflector-one-of-our-own.md#the-list"
	linkWatch     = "/xray/book/03-reflector.md#version-where-a-reconnect-goes-on"
	linkLoop      = "/xray/book/03-reflector-one-of-our-own.md#loop-one-decision-after-the-other"
	linkCut       = "/xray/book/03-reflector.md#relist-what-was-missed-during-a-cut"
	linkExpired   = "/xray/book/03-reflector-one-of-our-own.md#expired-the-server-has-forgotten-the-version"
	linkTombstone = "/xray/book/05-watchdog.md#tombstone-a-delete-that-nobody-saw"
	linkRecreated = "/xray/book/05-watchdog.md#and-with-any-informer"
	linkResync    = "/xray/book/07-shared-informer.md#resync-the-store-once-more-without-a-request"
	linkLate      = "/xray/book/07-shared-informer.md#late-a-handler-joins-while-it-runs"
	linkRemoved   = "/xray/book/07-shared-informer.md#remove-a-handler-leaves"
	linkStalled   = "/xray/book/06-processor-in-trouble.md#stalled-what-is-kept-for-a-handler-that-is-stuck"
	linkSlow      = "/xray/book/06-processor.md#slow-nobody-is-held-up"
	linkIndex     = "/xray/book/07-shared-informer.md#index-pods-by-the-label-app-live"
	linkInformer  = "/xray/book/07-shared-informer.md#the-informer"
)

// foldPause is how long no other caption is about the folding of the same handler.
const foldPause = time.Minute

// captionOf explains an event, which the stations have taken into account. Most
// events need no words: then it is nil.
func captionOf(in *input, s *stations) *caption {
	say := func(link, format string, args ...any) *caption { return &caption{fmt.Sprintf(format, args...), link} }
	name, change := nameOf(in.Key), changeOf(in.Type, in.Old, in.New, in.Initial)
	switch {
	case in.Kind == action:
		return in.say
	case in.lane == clientGo: // what happens there, happens in our lane, too
		return nil
	case in.Kind == observer.Listing && s.reflector.Doing == "streaming":
		return say(linkStream, "The reflector asks for a list%s, streamed over the watch.", again(s))
	case in.Kind == observer.Listing:
		return say(linkList, "The reflector asks for a list%s.", again(s))
	case in.Kind == observer.Listed && s.reflector.Doing == "watching":
		return say(linkStream, "The streamed list is complete, %s, and its watch goes on.", count(in.Count, "object"))
	case in.Kind == observer.Listed:
		return say(linkList, "The list is there: %s, as of version %s.", count(in.Count, "object"), in.Version)
	case in.Kind == observer.Watching:
		return say(linkWatch, "The reflector asks for a watch from version %s: what it missed since comes as events.",
			in.Version)
	case in.Kind == observer.Expired:
		return say(linkExpired, "410 Expired: the server no longer has this version. Only a new list helps.")
	case in.Kind == observer.Ended && in.Err == nil:
		return say(linkLoop, "The watch has ended, without an error. Another one can go on from version %s.",
			s.reflector.Version)
	case in.Kind == observer.Ended:
		return say(linkCut, "The connection is lost, or the request failed. The store stays as it was.")
	case in.Kind == observer.BackingOff:
		return say(linkLoop, "The reflector waits %v before it tries again.", in.Took.Round(100*time.Millisecond))
	case in.Kind == observer.Stored && change == "tombstone":
		return say(linkTombstone, "%s is not in the list: handlers get a tombstone, with its last known state.", name)
	case in.Kind == observer.Stored && change == "update" && uidOf(in.Old) != uidOf(in.New):
		return say(linkRecreated, "%s was deleted and created again while nobody watched: "+
			"that is one update, to another UID.", name)
	case in.Kind == observer.Stored && s.recreated:
		return say(linkRecreated, "%s was deleted and created again: a delete, then an add, with another UID.", name)
	case in.Kind == observer.Folded && s.mayMentionFolding(in):
		return say(linkStalled, "%s is far behind: %s became %s.", in.Handler,
			count(in.Count+in.Waiting, "notification"), grouped(in.Waiting))
	case in.Kind == observer.Called && s.handlers[in.Handler] != nil && s.handlers[in.Handler].caughtUp:
		h := s.handlers[in.Handler]
		return say(linkStalled, "%s has caught up, with %s; %s more were folded away.", in.Handler,
			count(h.Calls-h.before.calls, "call"), grouped(h.folded-h.before.folded))
	case in.Kind == observer.Joined && len(s.keys.at) > 0:
		return say(linkLate, "%s joins late. It gets %s from a snapshot of the store.", in.Handler,
			count(len(s.keys.at), "initial add"))
	case in.Kind == observer.Removed:
		return say(linkRemoved, "%s is removed. What waited for it is dropped.", in.Handler)
	}
	return nil
}

// again tells a relist from the first list.
func again(s *stations) string {
	if s.reflector.Version == "" {
		return ""
	}
	return " again (a relist)"
}

func (s *stations) mayMentionFolding(in *input) bool {
	h := s.handlers[in.Handler]
	if h == nil || in.at.Sub(h.foldSaid) < foldPause {
		return false
	}
	h.foldSaid = in.at
	return true
}

// count is such as "1 object" or "2 objects".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

func uidOf(obj any) string {
	about, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return string(about.GetUID())
}
