// What is shown of a section that was found: a line of its text, with the words marked.

package book

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/spelling"
)

// A Piece is a part of an excerpt.
type Piece struct {
	Text    string
	IsMatch bool // it is a word of the query
}

// excerptBytes is how long an excerpt is, about.
const excerptBytes = 160

// Excerpts returns a line of each of these sections, for the query that has found them: where most
// of its words are, or the rarest ones. A section without text has none.
func (b *Book) Excerpts(query string, found []Section) (excerpts [][]Piece) {
	q := newQuery(words(query), b.searchable())
	if len(q.words) == 0 {
		q.words = q.phrase // all are small
	}
	for _, s := range found {
		excerpts = append(excerpts, q.excerpt(b.textsOf(s)))
	}
	return excerpts
}

// textsOf returns the paragraphs of a section, the rows of its tables, and the lines of its blocks.
// The lines are last: of two that are equally good, a sentence says more.
func (b *Book) textsOf(s Section) (texts []string) {
	var code []string
	p := b.pages[s.Page]
	end := slices.IndexFunc(p.headings, func(h heading) bool { return h.line >= s.Line }) // counted from 0
	lines := p.lines[s.Line:]
	if end >= 0 {
		lines = p.lines[s.Line:p.headings[end].line]
	}
	source := []byte(strings.Join(lines, "\n"))
	_ = ast.Walk(markdown.Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			texts = append(texts, markdown.PlainText(n, source))
		case *extension.TableHeader, *extension.TableRow:
			var cells []string
			for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cells = append(cells, markdown.PlainText(cell, source))
			}
			texts = append(texts, strings.Join(cells, " · "))
		case *ast.FencedCodeBlock:
			code = slices.AppendSeq(code, strings.Lines(string(n.Lines().Value(source))))
		default:
			return ast.WalkContinue, nil
		}
		return ast.WalkSkipChildren, nil
	})
	texts = append(texts, code...)
	for i, text := range texts {
		texts[i] = strings.Join(strings.Fields(text), " ")
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// excerpt returns the best line of these texts.
func (q query) excerpt(texts []string) []Piece {
	best, from, most := "", 0, -1.0
	for _, text := range texts {
		places := wordPattern.FindAllStringIndex(text, -1)
		for i, place := range places {
			if weight := q.weightOf(text, places[i:]); weight > most {
				best, from, most = text, place[0], weight
			}
		}
	}
	return q.mark(cut(best, from))
}

// weightOf returns how much the words of the query weigh that are in a line. The line begins with
// the first of these places of words, which has to be a word of the query.
func (q query) weightOf(text string, places [][]int) (weight float64) {
	seen := map[string]bool{}
	for i, place := range places {
		word := normal(text[place[0]:place[1]])
		isMatch := slices.Contains(q.words, word)
		if i == 0 && !isMatch || place[1]-places[0][0] > excerptBytes*3/4 {
			break
		}
		if isMatch && !seen[word] {
			seen[word] = true
			weight += q.weight[word]
		}
	}
	return weight
}

// cut returns the part of a text around a place, with dots where something was left out.
func cut(text string, from int) string {
	if len(text) <= excerptBytes {
		return text
	}
	begin := max(0, min(from-excerptBytes/4, len(text)-excerptBytes))
	end := min(begin+excerptBytes, len(text))
	before, after := "", ""
	if begin > 0 { // at the begin of a word
		before = "… "
		begin += strings.IndexByte(text[begin:from+1]+" ", ' ')
		begin = min(begin, from)
	}
	if end < len(text) {
		after = " …"
		if space := strings.LastIndexByte(text[from:end], ' '); space > 0 {
			end = from + space
		}
		for !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return before + strings.TrimSpace(text[begin:end]) + after
}

// mark splits a line, so that each word of the query is a piece.
func (q query) mark(line string) (pieces []Piece) {
	done := 0
	for _, place := range wordPattern.FindAllStringIndex(line, -1) {
		word := line[place[0]:place[1]]
		if !slices.Contains(q.words, normal(word)) {
			continue
		}
		if place[0] > done {
			pieces = append(pieces, Piece{Text: line[done:place[0]]})
		}
		pieces = append(pieces, Piece{Text: word, IsMatch: true})
		done = place[1]
	}
	if done < len(line) {
		pieces = append(pieces, Piece{Text: line[done:]})
	}
	return pieces
}

// Correct returns a query with the words of the book that are spelled most like those that the book
// does not have, or "" if there are none.
func (b *Book) Correct(query string) string {
	count := map[string]int{}
	for _, s := range b.searchable() {
		for _, word := range s.text {
			count[word]++
		}
	}
	known := byFrequency(count)
	typed, isCorrected := words(query), false
	for i, word := range typed {
		if nearest := spelling.Nearest(word, known); count[word] == 0 && nearest != "" {
			typed[i], isCorrected = nearest, true
		}
	}
	if !isCorrected {
		return ""
	}
	return strings.Join(typed, " ")
}
