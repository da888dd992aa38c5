package informertest

import "testing"

// promises are what a program may count on, whichever informer it has.
var promises = []struct {
	name  string
	check func(t *testing.T, newInformer New)
}{
	// Events
	{"a handler gets each event of an object, in order", life},
	{"the store decides between add and update", storeDecides},
	{"a delete has the version of the delete", deleteHasItsVersion},
	{"an event of another type is dropped", otherTypeIsDropped},
	{"a bookmark is no event", bookmarkIsNoEvent},
	{"the deletion of an unknown object is not delivered", unknownIsNotDeleted},
	{"the store has a change before the handler gets it", storeIsAhead},
	{"notifications come one after the other", oneAfterTheOther},
	{"a blocked handler delays neither the others nor the store", blockedHandler},
	{"a filter makes adds and deletes of updates", filter},

	// Lists
	{"only the adds of the first list are initial", onlyTheFirstListIsInitial},
	{"the objects of a new list come in the order of the list", orderOfTheList},
	{"what a new list lacks is deleted with a tombstone of its last known state", tombstone},
	{"after a new list deletes come before adds and updates", deletesFirst},
	{"what was deleted and made again unseen is one update", madeAgainUnseen},
	{"unchanged objects of a new list go to all handlers of an informer without resyncs", unchangedObjects},
	{"an object that a list names twice is delivered once", sameNameTwice},
	{"a pointer that is twice in a list is delivered once", samePointerTwice},

	// Handlers
	{"a late handler gets what is in the store, and then what happens", lateHandler},
	{"the initial adds of a late handler come first", initialAddsComeFirst},
	{"a handler that is added twice is called twice", addedTwice},
	{"a handler may add another", handlerAddsAnother},
	{"a handler that is removed before the start is not called", removedBeforeTheStart},
	{"a handler may be removed twice, and from many goroutines", removedTwice},
	{"only its own handlers are removed", notItsOwn},
	{"a handler may remove itself", handlerRemovesItself},
	{"an informer that has stopped accepts no handler", noHandlerAfterTheEnd},

	// HasSynced
	{"a handler has synced when it has returned from its last call for the list", syncedOfAHandler},
	{"an empty list syncs", emptyListSyncs},
	{"a late handler has synced when it has received what was in the store", syncedOfALateHandler},
	{"a handler that joins during the first list gets all of it", joinsDuringTheFirstList},
	{"a list that fails does not sync", failedListDoesNotSync},
	{"neither a new list nor the end changes HasSynced", syncedAfterTheEnd},

	// The start and the end
	{"Run ends, with all goroutines, when its channel is closed", runEnds},
	{"an informer runs once", runsOnce},
	{"Run ends though the server does not answer", endsWithoutAnAnswer},
	{"Run waits for the call that is running", runWaitsForTheCall},
	{"handlers may come and go while the informer ends", endInTheMidstOfThings},

	// Failures
	{"the last watch error handler gets the error, and the list is tried again", lastErrorHandler},
	{"what has to be set before the start is refused later", setBeforeTheStart},
	{"a watch that ends is resumed without a list", watchIsResumed},
	{"the store is kept while lists fail", storeIsKept},

	// The store
	{"the store holds what the server has", storeHoldsWhatTheServerHas},
	{"indexes can be added before the start and while it runs", indexesEarlyAndLate},
	{"nil indexers are no indexers", nilIndexers},
	{"the indexers of the caller stay as they are", callersIndexers},

	// The transform
	{"each object of a list and of an event is transformed", everythingIsTransformed},
	{"tombstones and resyncs are not transformed", tombstonesAndResyncs},
	{"the last transform counts", lastTransformCounts},
	{"a transform may give values that cannot be compared", valuesThatCannotBeCompared},
	{"a list that cannot be transformed is refused, and listed again", listThatCannotBeTransformed},
	{"an event that cannot be transformed is dropped", eventThatCannotBeTransformed},

	// Resyncs
	{"a resync makes no request", resyncMakesNoRequest},
	{"a resync is of all that is stored", resyncIsOfWhatIsStored},
	{"unchanged objects of a new list go to handlers that were due last", unchangedObjectsGoToHandlersThatWereDue},
	{"the old state is right after a resync that a handler has skipped", oldStateAfterASkippedResync},
	{"a handler gets the resync period that it asks for", ownResyncPeriod},
}
