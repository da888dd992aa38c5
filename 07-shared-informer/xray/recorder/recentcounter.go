// A counter of texts that knows which of them changed last.

package recorder

import "container/list"

// A recentCounter counts texts. However many texts there are, it takes the same time to count one
// more and to read the few that changed last.
type recentCounter struct {
	order    *list.List               // of *countedText; the text that changed last is in front
	elements map[string]*list.Element // by text
}

type countedText struct {
	text  string
	count int // at least 1
}

func newRecentCounter() recentCounter {
	return recentCounter{order: list.New(), elements: map[string]*list.Element{}}
}

func (r recentCounter) size() int { return len(r.elements) }

func (r recentCounter) contains(text string) bool { return r.elements[text] != nil }

// add adds to the count of a text, and moves the text to the front. A text whose count falls to 0
// is removed.
func (r recentCounter) add(text string, by int) {
	if !r.contains(text) {
		r.elements[text] = r.order.PushFront(&countedText{text: text})
	}
	element := r.elements[text]
	r.order.MoveToFront(element)
	counted := element.Value.(*countedText)
	counted.count += by
	if counted.count <= 0 {
		r.order.Remove(element)
		delete(r.elements, text)
	}
}

// newest returns the texts that changed last, at most limit of them.
func (r recentCounter) newest(limit int) (texts []countedText) {
	for e := r.order.Front(); e != nil && len(texts) < limit; e = e.Next() {
		texts = append(texts, *e.Value.(*countedText))
	}
	return texts
}
