// Captions: the sentences that explain events.

package recorder

import "fmt"

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
