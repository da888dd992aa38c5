// Numbers in sentences and tables that say how long pages are.

package book

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A figure is a number on a page that Rewrite computes:
//
//	The chapter takes <!-- minutes 01-* -->45 minutes.
//
// After the quantity come pages, without docs/ and .md, with * for several of them, or sections, such
// as 03-reflector#relist. A line does not begin with a figure, because Markdown would not read the
// line as text. The quantities are
//
//	words      of text and of tables, outside of blocks
//	minutes    to read the pages and to run their steps
//	hours      the same
//	exercises  the hours of the exercises to which the pages link
type figure struct {
	line     int
	start    int // the offset of the number
	text     string
	quantity string
	regions  []string
	printed  string // the number on the page
}

var (
	figureStart  = regexp.MustCompile(`^<!--\s*(words|minutes|hours|exercises)\b`)
	figureForm   = regexp.MustCompile(`^<!-- (words|minutes|hours|exercises)((?:\s+[^\s<>]+)+)\s+-->$`)
	figureNumber = regexp.MustCompile(`^(\d+(,\d{3})*(\.\d+)?)?`)
	effort       = regexp.MustCompile(`(?m)^About (\d+) minutes, `)
)

// The pace of a reader. Blocks of code and of output are read in lines, but for those that the
// reader has to open.
const (
	wordsPerMinute = 180
	linesPerMinute = 20
	minutesPerStep = 1 // to run it
)

// minutes returns how long it takes to read what has this size, and to run its steps.
func (s size) minutes() float64 {
	return float64(s.prose+s.tables)/wordsPerMinute + float64(s.goOpen+s.otherLines)/linesPerMinute +
		float64(s.steps)*minutesPerStep
}

// readFigure reads a comment inside of a line. end is the offset of what follows it.
func (p *page) readFigure(comment string, end int) {
	if !figureStart.MatchString(comment) {
		return
	}
	line := p.line(end)
	match := figureForm.FindStringSubmatch(comment)
	if match == nil {
		p.addProblem(line, "write <!-- minutes PAGE… -->, or words, hours or exercises")
		return
	}
	p.figures = append(p.figures, figure{line: line, start: end, text: strings.Join(strings.Fields(comment), " "),
		quantity: match[1], regions: strings.Fields(match[2]), printed: string(figureNumber.Find(p.source[end:]))})
}

// renderFigures returns the text of the page with up-to-date figures, and a problem for each figure
// that was stale. It does not change a figure that it cannot compute: these are the broken ones.
func (b *Book) renderFigures(p *page) (text string, stale, broken []Problem) {
	var out strings.Builder
	done := 0
	for _, f := range p.figures {
		number, err := b.number(f)
		switch {
		case err != nil:
			broken = append(broken, p.problem(f.line, "%s: %v", f.text, err))
			continue
		case number != f.printed:
			stale = append(stale, p.problem(f.line, "%s gives %s, not %q: `go run ./docs` writes it",
				f.text, number, f.printed))
		}
		out.Write(p.source[done:f.start])
		out.WriteString(number)
		done = f.start + len(f.printed)
	}
	out.Write(p.source[done:])
	return out.String(), stale, broken
}

// number returns the number that a figure has to show.
func (b *Book) number(f figure) (string, error) {
	var sum size
	var exercises []string
	for _, region := range f.regions {
		s, linked, err := b.region(region)
		if err != nil {
			return "", err
		}
		sum, exercises = sum.plus(s), append(exercises, linked...)
	}
	switch f.quantity {
	case "words":
		return roundedWords(sum.prose + sum.tables), nil
	case "minutes":
		return roundedMinutes(sum.minutes()), nil
	case "hours":
		return roundedHours(sum.minutes()), nil
	}
	minutes, err := b.exerciseMinutes(exercises)
	return roundedHours(minutes), err
}

// roundedWords rounds to two digits, as nobody needs more.
func roundedWords(n int) string {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	n = (n + unit/2) / unit * unit
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// roundedMinutes rounds to five minutes, and the minutes of a few sections up.
func roundedMinutes(minutes float64) string {
	if minutes > 20 {
		minutes = 5 * math.Round(minutes/5)
	}
	return strconv.Itoa(int(math.Ceil(minutes)))
}

// roundedHours rounds to half an hour.
func roundedHours(minutes float64) string {
	return strconv.FormatFloat(math.Round(minutes/30)/2, 'f', -1, 64)
}

// region returns the size of pages or of a section, and the exercises to which they link.
func (b *Book) region(region string) (sum size, exercises []string, err error) {
	pattern, anchor, isSection := strings.Cut(region, "#")
	found := false
	for name, p := range b.pages {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
		if match, _ := path.Match(pattern, short); !match { // its only error is a malformed pattern
			continue
		}
		from, to := 0, len(p.lines)
		if isSection {
			if from, to = p.section(anchor); from == to {
				return size{}, nil, fmt.Errorf("no heading of %s has the anchor #%s", name, anchor)
			}
		}
		found = true
		sum = sum.plus(p.size(from, to))
		exercises = append(exercises, p.exercises(from, to)...)
	}
	if !found {
		return size{}, nil, fmt.Errorf("there is no page %s", pattern)
	}
	return sum, exercises, nil
}

// section returns the lines from a heading to the next one of its level, or none.
func (p *page) section(anchor string) (from, to int) {
	i := slices.IndexFunc(p.headings, func(h heading) bool { return h.anchor == anchor })
	if i < 0 {
		return 0, 0
	}
	for _, next := range p.headings[i+1:] {
		if next.level <= p.headings[i].level {
			return p.headings[i].line, next.line
		}
	}
	return p.headings[i].line, len(p.lines)
}

// exercises returns the exercises to which some lines of a page link.
func (p *page) exercises(from, to int) (files []string) {
	for _, l := range p.links {
		file := path.Join(path.Dir(p.name), l.target)
		if path.Base(path.Dir(file)) == "practice" && from <= l.line && l.line < to {
			files = append(files, file)
		}
	}
	return files
}

// exerciseMinutes returns how long exercises take, by what their pages say.
func (b *Book) exerciseMinutes(files []string) (minutes float64, err error) {
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		text, err := b.readFile(file)
		if err != nil {
			return 0, err
		}
		match := effort.FindSubmatch(text)
		if match == nil {
			return 0, fmt.Errorf(`%s has no line like "About 15 minutes, easy."`, file)
		}
		n, err := strconv.Atoi(string(match[1]))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		minutes += float64(n)
	}
	return minutes, nil
}
