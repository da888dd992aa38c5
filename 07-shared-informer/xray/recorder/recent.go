// Keys and values in the order in which they changed.

package recorder

import "container/list"

// A recent counts how often it has each text. However many there are, it costs the
// same to count one more and to read the first few.
type recent struct {
	order *list.List               // of *counted, the one that changed last in front
	at    map[string]*list.Element // where each is
}

type counted struct {
	text string
	n    int // at least 1
}

func newRecent() recent { return recent{list.New(), map[string]*list.Element{}} }

// add counts a text in or out, and puts it in front.
func (r recent) add(text string, by int) {
	if r.at[text] == nil {
		r.at[text] = r.order.PushFront(&counted{text: text})
	}
	element := r.at[text]
	r.order.MoveToFront(element)
	c := element.Value.(*counted)
	if c.n += by; c.n <= 0 {
		r.order.Remove(element)
		delete(r.at, text)
	}
}

// first returns those that changed last, at most so many.
func (r recent) first(most int) (all []counted) {
	for e := r.order.Front(); e != nil && len(all) < most; e = e.Next() {
		all = append(all, *e.Value.(*counted))
	}
	return all
}
