// Package spelling finds what a user may mean with a name that does not exist.
package spelling

import "strings"

// DidYouMean returns ": did you mean X?" with the name that is spelled most like this one, or "" if
// none is similar.
func DidYouMean(name string, names []string) string {
	if nearest := Nearest(name, names); nearest != "" {
		return ": did you mean " + nearest + "?"
	}
	return ""
}

// Nearest returns the name that is spelled most like this one, or "" if none is similar. Upper and
// lower case are the same. Of two that are equally similar, it is the first.
func Nearest(name string, names []string) (nearest string) {
	least := 0
	for _, known := range names {
		a, b := []rune(strings.ToLower(name)), []rune(strings.ToLower(known))
		longest, d := max(len(a), len(b)), distance(a, b)
		if d <= (longest+2)/3 && d < longest && (nearest == "" || d < least) {
			nearest, least = known, d
		}
	}
	return nearest
}

// distance returns how many letters have to be added, left out or changed to get from a to b (the
// Levenshtein distance).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1) // row[j] is the distance from the part of a that was read to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0] // row[j] before a[i] was read
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
