// Finding a section by the words in it.

package book

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/informer/scripts/harness/spelling"
)

// A Section is a part of a page, from a heading to the next one.
type Section struct {
	Page   string
	Line   int    // of the heading, from 1
	Title  string // the title of the page, and the heading below it
	Anchor string // of the heading
}

// String returns the section in one line, which begins with the page and the line number.
func (s Section) String() string { return fmt.Sprintf("%s:%d: %s", s.Page, s.Line, s.Title) }

// Find returns the sections that fit a query best, the best one first, and not more than limit. It
// returns none if no section has a word of the query.
//
// A section is better than another if it comes earlier in this list: the heading is the query; the
// heading contains the query, or the query contains the heading, as a line of a log does; all words
// of the query are in the heading; the text contains the query; all words are in the section; some
// words are in it. A word that is nowhere in the book, such as the time in a line of a log, does
// not count, and neither does one without a meaning of its own, such as "the". Sections of the same
// kind are compared by their terms, which are words and pairs of neighbouring words: the rarer a
// term is in the book, and the more of the section it makes up, the better.
func (b *Book) Find(query string, limit int) []Section {
	sections := b.searchable()
	q := newQuery(words(query), sections)
	var hits []hit
	for _, s := range sections {
		if h := q.match(s); h.weight > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(y.rank, x.rank), cmp.Compare(y.weight, x.weight))
	})
	var found []Section
	for _, h := range hits[:min(limit, len(hits))] {
		found = append(found, h.section.Section)
	}
	return found
}

// Complete completes the last word of a query that somebody is typing: if the book does not have
// the word, but words that begin with it, it becomes the most frequent one of these.
func (b *Book) Complete(query string) string {
	typed := words(query)
	if len(typed) == 0 || strings.HasSuffix(query, " ") {
		return query
	}
	last := typed[len(typed)-1]
	count := map[string]int{}
	for _, s := range b.searchable() {
		if s.inText[last] > 0 {
			return query
		}
		for _, word := range s.text {
			if strings.HasPrefix(word, last) {
				count[word]++
			}
		}
	}
	if matches := byFrequency(count); len(matches) > 0 {
		last = matches[0]
	}
	return strings.Join(append(typed[:len(typed)-1], last), " ")
}

// byFrequency returns words, the most frequent one first.
func byFrequency(count map[string]int) []string {
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
}

// Suggest returns the sections that somebody may mean with the path of a page that does not exist:
// the page and the section with nearly the same name, then those that have its words.
func (b *Book) Suggest(name string) (sections []Section) {
	wanted := strings.TrimSuffix(path.Base(name), path.Ext(name))
	byName := map[string]Section{} // by the name of a page, and by the anchor of a section
	for _, s := range b.searchable() {
		for _, known := range []string{strings.TrimSuffix(path.Base(s.Page), path.Ext(s.Page)), s.Anchor} {
			if _, ok := byName[known]; !ok {
				byName[known] = s.Section
			}
		}
	}
	if s, ok := byName[spelling.Nearest(wanted, slices.Sorted(maps.Keys(byName)))]; ok {
		sections = append(sections, s)
	}
	for _, s := range b.Find(strings.ReplaceAll(wanted, "-", " "), 3) {
		if !slices.Contains(sections, s) {
			sections = append(sections, s)
		}
	}
	return sections
}

// A searchable is a section with its words.
type searchable struct {
	Section
	heading, text  []string       // in their order; the text begins with the heading
	inText         map[string]int // how often the text has a term
	inHeading      map[string]int // how often the heading has a term
	relativeLength float64        // of the text; 1 is the average
}

// searchable returns all sections of the book, page by page. It reads them once.
func (b *Book) searchable() []searchable {
	if b.sections == nil {
		b.sections = b.readSections()
	}
	return b.sections
}

func (b *Book) readSections() (all []searchable) {
	for _, name := range slices.Sorted(maps.Keys(b.pages)) {
		p := b.pages[name]
		for i, h := range p.headings {
			end := len(p.lines)
			if i+1 < len(p.headings) {
				end = p.headings[i+1].line
			}
			title := h.text
			if i > 0 {
				title = p.headings[0].text + " › " + h.text
			}
			s := searchable{Section: Section{Page: name, Line: h.line + 1, Title: title, Anchor: h.anchor}}
			s.heading = words(h.text)
			s.text = words(strings.Join(p.lines[h.line:end], "\n"))
			s.inText, s.inHeading = terms(s.text), terms(s.heading)
			all = append(all, s)
		}
	}
	length := 0
	for _, s := range all {
		length += len(s.text)
	}
	for i, s := range all {
		all[i].relativeLength = float64(len(s.text)*len(all)) / float64(length)
	}
	return all
}

// wordPattern matches a Chinese character, or a word of a language that has spaces between its words.
var wordPattern = regexp.MustCompile(`\p{Han}|([^\PL\p{Han}]|\pN)+`)

// words returns the words of a text in lower case, without the s of a plural. In Chinese each
// character is a word: the pairs of neighbours, which are terms too, are more or less its words.
func words(text string) []string {
	all := wordPattern.FindAllString(text, -1)
	for i, word := range all {
		all[i] = normal(word)
	}
	return all
}

// normal returns a word as it is compared.
func normal(word string) string {
	word = strings.ToLower(word)
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "s")
	}
	return word
}

// terms counts the words of a text, and its pairs of neighbouring words.
func terms(words []string) map[string]int {
	count := map[string]int{}
	for i, word := range words {
		count[word]++
		if i > 0 {
			count[words[i-1]+" "+word]++
		}
	}
	return count
}

// A query is what a reader looks for.
type query struct {
	phrase []string           // all its words, in their order
	words  []string           // those that the book has, and that have a meaning
	terms  []string           // those that the book has, sorted, so that equal sections get equal sums
	weight map[string]float64 // of each of these terms: the rarer in the book, the greater
}

func newQuery(phrase []string, sections []searchable) query {
	q := query{phrase: phrase, weight: map[string]float64{}}
	for _, term := range slices.Sorted(maps.Keys(terms(phrase))) {
		count := 0
		for _, s := range sections {
			if s.inText[term] > 0 {
				count++
			}
		}
		if count > 0 {
			q.terms = append(q.terms, term)
			q.weight[term] = math.Log(1 + float64(len(sections))/float64(count))
		}
	}
	for _, word := range phrase {
		if q.weight[word] > 0 && !slices.Contains(smallWords, word) {
			q.words = append(q.words, word)
		}
	}
	return q
}

// smallWords have no meaning of their own.
var smallWords = strings.Fields("a an and are as at be by can do does for from has have how i if in is it me my of " +
	"on or that the there this to was what when where which why with")

// The kinds of hits, the best one last.
const (
	someWords = iota
	allWords
	phraseInText
	allWordsInHeading
	phraseInHeading
	sameAsHeading
)

// A hit says how well a section fits a query. Its weight is 0 if it does not fit.
type hit struct {
	section searchable
	rank    int
	weight  float64
}

// match compares a section with the query. The weight is the one of Okapi BM25, which search
// engines use, with its usual constants. Terms in the heading count twice.
func (q query) match(s searchable) hit {
	const k, b = 1.2, 0.75
	h := hit{section: s, rank: q.rank(s)}
	for _, term := range q.terms {
		if count := float64(s.inText[term]); count > 0 {
			h.weight += q.weight[term] * count * (k + 1) / (count + k*(1-b+b*s.relativeLength))
		}
		if s.inHeading[term] > 0 {
			h.weight += q.weight[term]
		}
	}
	return h
}

// rank returns the kind of a hit.
func (q query) rank(s searchable) int {
	// A heading of one or two words, such as "Run it", is in many lines by chance.
	const enoughWords = 3
	headingInQuery := len(s.heading) >= enoughWords && contains(q.phrase, s.heading)
	switch {
	case slices.Equal(s.heading, q.phrase):
		return sameAsHeading
	case contains(s.heading, q.phrase), headingInQuery:
		return phraseInHeading
	case len(q.words) == 0:
		return someWords
	case hasAll(s.inHeading, q.words):
		return allWordsInHeading
	case contains(s.text, q.phrase):
		return phraseInText
	case hasAll(s.inText, q.words):
		return allWords
	default:
		return someWords
	}
}

// hasAll reports whether all words are among the terms.
func hasAll(terms map[string]int, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return terms[word] == 0 })
}

// contains reports whether a text has these words in this order, one right after the other.
func contains(text, phrase []string) bool {
	for i := range len(text) - len(phrase) + 1 {
		if slices.Equal(text[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}
