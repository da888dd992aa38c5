// How the lines of a step are compared with its transcript: exactly, except for the order of
// several speakers and for folded neighbours.

package play

import (
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// speaker returns the number of the speaker that the line begins with: 1 for the first of Speakers,
// 0 for none.
func (s Step) speaker(line string) int {
	return 1 + slices.IndexFunc(s.Speakers, func(name string) bool { return strings.HasPrefix(line, name+" : ") })
}

// tidy puts the lines of each speaker together. Lines without a speaker come first, then the
// speakers in the order of Speakers. It folds equal neighbours if the step asks for that.
func (s Step) tidy(lines []string) []string {
	tidied := slices.Clone(lines)
	slices.SortStableFunc(tidied, func(a, b string) int { return s.speaker(a) - s.speaker(b) })
	if s.Fold {
		tidied = slices.Compact(tidied)
	}
	return tidied
}

// A match says how the lines that have come compare with the expected lines.
type match int

const (
	matches match = iota // they are all there
	awaited              // more are to come
	differs              // they can no longer match
)

// compare compares the lines that have come with the lines of a block. before has the last line of
// each speaker in the blocks before: if the step folds, a late repetition of that line does not
// count.
func (s Step) compare(want, got []string, before map[int]string) match {
	verdict := s.compareTidied(s.tidy(want), s.tidy(got))
	if verdict == differs && s.Fold {
		return s.compareTidied(s.tidy(want), s.tidy(s.withoutRepeats(got, before)))
	}
	return verdict
}

// withoutRepeats leaves out the first lines of each speaker if they only repeat the speaker's line
// in before.
func (s Step) withoutRepeats(lines []string, before map[int]string) (kept []string) {
	hasNews := map[int]bool{} // speakers with a line that is not a repetition
	for _, line := range lines {
		speaker := s.speaker(line)
		last, ok := before[speaker]
		if !ok || line != last {
			hasNews[speaker] = true
		}
		if hasNews[speaker] {
			kept = append(kept, line)
		}
	}
	return kept
}

// compareTidied compares each line with the next expected line of its speaker.
func (s Step) compareTidied(want, got []string) match {
	missing := slices.Clone(want)
	for _, line := range got {
		i := slices.IndexFunc(missing, func(next string) bool { return s.speaker(next) == s.speaker(line) })
		if i < 0 || missing[i] != line {
			return differs
		}
		missing = slices.Delete(missing, i, i+1)
	}
	if len(missing) > 0 {
		return awaited
	}
	return matches
}

// judge compares the lines of a block that are in the transcript with those that have come. at is
// the number of the line above them in the transcript.
func judge(want, got []string, at int) (rows []row) {
	for _, part := range difflib.NewMatcher(want, got).GetOpCodes() {
		for k := range max(part.I2-part.I1, part.J2-part.J1) {
			i, j := part.I1+k, part.J1+k
			switch {
			case i >= part.I2:
				rows = append(rows, row{Verdict: isExtra, Text: got[j]})
			case j >= part.J2:
				rows = append(rows, row{Verdict: isMissing, Want: want[i], At: at + 1 + i})
			case part.Tag == 'e': // equal
				rows = append(rows, row{Verdict: isOK, Text: got[j], At: at + 1 + i})
			default:
				rows = append(rows, row{Verdict: isOther, Text: got[j], Want: want[i], At: at + 1 + i})
			}
		}
	}
	return rows
}

// stoppedRows returns the rows of a block that the user has stopped: no line is missing, and no
// line is wrong.
func stoppedRows(rows []row) (stopped []row) {
	for _, r := range rows {
		switch r.Verdict {
		case isMissing:
		case isOK:
			stopped = append(stopped, r)
		default:
			stopped = append(stopped, row{Verdict: isStopped, Text: r.Text})
		}
	}
	return stopped
}

// A difference is a unified diff of two transcripts, as an error.
type difference struct{ text string }

func (d *difference) Error() string {
	return "not as in its transcript (- is missing, + is new; -update takes it as it is now):\n" + d.text
}

// differenceError returns a difference with the lines that are missing from got, marked with a
// minus, and the lines that only got has, marked with a plus. It returns nil if the transcripts are
// equal.
func differenceError(want, got transcript) error {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:       slices.Collect(strings.Lines(want.String())),
		B:       slices.Collect(strings.Lines(got.String())),
		Context: 2,
	})
	if err != nil || text == "" {
		return err
	}
	return &difference{text: strings.TrimSuffix(text, "\n")}
}
