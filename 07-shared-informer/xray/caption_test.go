// The words of each caption, and that the book has what they link to.

package xray

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/must"
)

func TestCaptions(t *testing.T) {
	a1, a2, other := configMap("a", "1", ""), configMap("a", "2", ""), configMap("a", "2", "")
	other.UID = "another"
	stored := func(kind string, before, after any) observer.Event {
		return observer.Event{Kind: observer.Stored, Type: kind, Key: "ns/a", Old: before, New: after}
	}
	for _, test := range []struct {
		streams bool
		before  []observer.Event
		event   observer.Event
		want    string
	}{
		{true, nil, observer.Event{Kind: observer.Listing}, "The reflector asks for a list, streamed over the watch."},
		{false, nil, observer.Event{Kind: observer.Listing}, "The reflector asks for a list."},
		{false, []observer.Event{{Kind: observer.Listed, Version: "5"}},
			observer.Event{Kind: observer.Listing, Version: "5"},
			"The reflector asks for a list again (a relist)."},
		{true, []observer.Event{{Kind: observer.Listing}}, observer.Event{Kind: observer.Listed, Count: 1},
			"The streamed list is complete, 1 object, and its watch goes on."},
		{false, []observer.Event{{Kind: observer.Listing}},
			observer.Event{Kind: observer.Listed, Count: 2, Version: "5"},
			"The list is there: 2 objects, as of version 5."},
		{false, nil, observer.Event{Kind: observer.Watching, Version: "5"},
			"The reflector asks for a watch from version 5: what it missed since comes as events."},
		{false, []observer.Event{{Kind: observer.Bookmark, Version: "7"}}, observer.Event{Kind: observer.Ended},
			"The watch has ended, without an error. Another one can go on from version 7."},
		{false, nil, observer.Event{Kind: observer.Ended, Err: errors.New("no")},
			"The connection is lost, or the request failed. The store stays as it was."},
		{false, nil, observer.Event{Kind: observer.Expired, Err: errors.New("no")},
			"410 Expired: the server no longer has this version. Only a new list helps."},
		{false, nil, observer.Event{Kind: observer.BackingOff, Took: 1234 * time.Millisecond},
			"The reflector waits 1.2s before it tries again."},
		{false, nil, stored("DELETED", a1, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: a1}),
			"a is not in the list: handlers get a tombstone, with its last known state."},
		{false, nil, stored("MODIFIED", a1, other),
			"a was deleted and created again while nobody watched: that is one update, to another UID."},
		{false, []observer.Event{stored("ADDED", nil, a1), stored("DELETED", a1, a1)}, stored("ADDED", nil, other),
			"a was deleted and created again: a delete, then an add, with another UID."},
		{false, []observer.Event{{Kind: observer.Joined, Handler: "slow"}},
			observer.Event{Kind: observer.Folded, Handler: "slow", Count: 97, Waiting: 3},
			"slow is far behind: 100 notifications became 3."},
		{false, []observer.Event{{Kind: observer.Joined, Handler: "slow"}, {Kind: observer.Called, Handler: "slow"},
			{Kind: observer.Folded, Handler: "slow", Count: 1997, Waiting: 3},
			{Kind: observer.Called, Handler: "slow", Waiting: 1}},
			observer.Event{Kind: observer.Called, Handler: "slow"},
			"slow has caught up, with 2 calls; 1,997 more were folded away."},
		{false, []observer.Event{stored("ADDED", nil, a1)}, observer.Event{Kind: observer.Joined, Handler: "late"},
			"late joins late. It gets 1 initial add from a snapshot of the store."},
		{false, nil, observer.Event{Kind: observer.Removed, Handler: "late"},
			"late is removed. What waited for it is dropped."},

		{false, nil, stored("MODIFIED", a1, a2), ""},
		{false, nil, stored("DELETED", a1, a1), ""},
		{false, nil, observer.Event{Kind: observer.Joined, Handler: "early"}, ""},
		{false, nil, observer.Event{Kind: observer.Called, Handler: "slow"}, ""},
		{false, nil, observer.Event{Kind: observer.Bookmark}, ""},
	} {
		r := scripted(test.streams)
		r.feed(test.before...)
		r.feed(test.event)
		records, got := recordsOf(t, r), ""
		if said := records[len(records)-1].Caption; said != nil {
			got = said.Text
		}
		if got != test.want {
			t.Errorf("%s %s:\ngot  %q\nwant %q", test.event.Kind, test.event.Type, got, test.want)
		}
	}
}

// A handler that stays far behind is mentioned again after a while, not at each fold.
func TestFoldingIsMentionedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := scripted(false)
		r.feed(observer.Event{Kind: observer.Joined, Handler: "slow"})
		for range 121 {
			r.feed(observer.Event{Kind: observer.Folded, Handler: "slow", Count: 5, Waiting: 3})
			time.Sleep(time.Second)
		}
		if n := len(captions(t, r)); n != 3 {
			t.Errorf("%d captions in two minutes, want 3", n)
		}
	})
}

func TestTheBookHasWhatCaptionsLinkTo(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "caption.go", nil, 0)
	must.Do(t, err)
	links := 0
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		must.Do(t, err)
		if link, ok := strings.CutPrefix(text, "/xray/book/"); ok {
			links++
			name, section, _ := strings.Cut(link, "#")
			page, err := readBook(name)
			must.Do(t, err)
			if section == "" || !strings.Contains(page, ` id="`+section+`"`) {
				t.Errorf("%s has no heading with the anchor %q", name, section)
			}
		}
		return true
	})
	if links < 10 {
		t.Errorf("found %d links in caption.go", links)
	}
}

func TestOnlyThePagesOfTheBookAreShown(t *testing.T) {
	for _, name := range []string{"main.go", "../README.md", "..", "book", "no-such-page.md", "%2e%2e.md", ""} {
		if _, err := readBook(name); err == nil {
			t.Errorf("%q is a page of the book", name)
		}
	}
}
