package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/bench/tool/tooltest"
)

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Duration(9.5):               "9.50 ns",
		Duration(999.6):             "1.00 µs",
		Duration(123456):            "123 µs",
		Duration(1.5e13):            "15000 s",
		Memory(1.7719e9):            "1.77 GB",
		PerSecond(3450):             "290,000",
		PerSecond(2e9):              "1",
		Plain(1.5):                  "1.5",
		Grouped(1_000_000):          "1,000,000",
		power(2, times):             "100 ns",
		power(4, times):             "10 µs",
		power(10, times):            "10 s",
		power(8, sizes):             "100 MB",
		Ratio(2.5):                  "2.50 ×",
		Spread(2, 40):               "2.00 to 40.0",
		Digits(Median(f(3, 1, 2))):  "2.00",
		Digits(Median(f(4, 10, 2))): "4.00",
		Digits(Median(f(4, 2))):     "3.00",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func f(values ...float64) []float64 { return values }

func TestAligned(t *testing.T) {
	got := Aligned([][]string{
		{"what", "number", "verdict"},
		{"a heading that is longer than any column"},
		{"one", "5 µs", "better"},
		{"twenty", "1,000 µs", ""},
	})
	want := `what      number  verdict
a heading that is longer than any column
one         5 µs  better
twenty  1,000 µs
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever the texts, whichever line is above the other, however many panels.
func TestPicturesAreWellFormed(t *testing.T) {
	p := Panel{Title: "a < b", XAxis: "n & m", X: []int{1, 1000}, Y: map[string][]float64{Theirs: f(1, 2), Ours: f(2, 1)}}
	other := Panel{Title: "t", Bytes: true, X: []int{1}, Y: map[string][]float64{Theirs: f(1), Ours: f(1e6)}}
	for _, panels := range [][]Panel{{p}, {p, other, p}, {p, other, p, other}} {
		picture := Picture("it's <this>", "A <& B", panels)
		tooltest.WantXML(t, picture)
		if n := strings.Count(picture, "translate(70 "); n != (len(panels)+2)/3 {
			t.Errorf("%d panels in %d rows, want three in a row", len(panels), n)
		}
	}
}

func TestWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	if err := Write(folder, map[string]string{"a.txt": "A"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "a.txt")
	if text, err := os.ReadFile(file); err != nil || string(text) != "A" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if err := Write(file, nil); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("writing into a file: %v, want an error that names it", err)
	}
}
