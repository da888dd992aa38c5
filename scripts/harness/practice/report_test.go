package main

import (
	"strings"
	"testing"
)

const raceText = `=== RUN   TestAsking
==================
WARNING: DATA RACE
Read at 0x00c0001 by goroutine 8:
  runtime.mapaccess2()
      /go/src/runtime/map.go:10 +0x1
  example.com/factory.(*Factory).informerFor()
      /root/08-factory/factory/factory.go:80 +0x2

Previous write at 0x00c0001 by goroutine 7:
  example.com/factory.(*Factory).put()
      /root/08-factory/factory/factory.go:90 +0x3

Goroutine 8 (running) created at:
  example.com/factory.TestAsking()
      /root/08-factory/factory/factory_test.go:9 +0x4
==================
    factory_test.go:12: got 2 informers, want 1
    testing.go:1617: race detected during execution of test
--- FAIL: TestAsking (0.00s)
FAIL
`

func TestSummaryOfADataRace(t *testing.T) {
	want := "DATA RACE: read, in factory.(*Factory).informerFor (08-factory/factory/factory.go:80), " +
		"and write, in factory.(*Factory).put (08-factory/factory/factory.go:90)\n" +
		"    factory_test.go:12: got 2 informers, want 1"
	if got := summary("/root", raceText); got != want {
		t.Errorf("summary() is\n%s\nwant\n%s", got, want)
	}
}

func TestOfALongLineOnlyTheDifferenceIsShown(t *testing.T) {
	var words []string
	for i := range 100 {
		words = append(words, strings.Repeat(string(rune('a'+i%26)), 4)+":1")
	}
	want := strings.Join(words, " ")
	words[50] = "other:2"
	got := strings.Join(words, " ")
	for _, line := range []string{
		"x_test.go:1: the store has map[" + got + "], want map[" + want + "]",
		"x_test.go:1: the store has map[" + got + "]\n        want map[" + want + "]",
	} {
		summed := summary("/root", line)
		if !strings.HasSuffix(summed, "got other:2, want yyyy:1") || len(summed) > 150 {
			t.Errorf("summary() is\n%s\nwant only what differs", summed)
		}
	}
	if got := shorten(strings.Repeat("1 ", 400)); len(got) > 250 {
		t.Errorf("shorten() is %d long: %s", len(got), got)
	}
}

// A test that compares nine lines with nine others, and says which are which, is shown whole.
func TestAComparisonIsNotCut(t *testing.T) {
	text := "seed 0:\nline 12 differs\nclient-go:\n" + strings.Repeat("  same\n", 9) +
		"ours:\n" + strings.Repeat("  same\n", 8) + "  another"
	if got := summary("/root", text); got != text {
		t.Errorf("summary() is\n%s\nwant\n%s", got, text)
	}
}

// Lines that are equal do not hide the others.
func TestEqualLinesAreFolded(t *testing.T) {
	text := strings.Repeat("    x_test.go:1: the store has no a\n", 7118) + "    x_test.go:2: got 1, want 2\n"
	want := "    x_test.go:1: the store has no a (7118 times)\n    x_test.go:2: got 1, want 2"
	if got := summary("/root", text); got != want {
		t.Errorf("summary() is\n%s\nwant\n%s", got, want)
	}
}
