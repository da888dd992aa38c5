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

// A test that hangs is shown where it hangs, and not at a goroutine that waits as it should.
func TestSummaryOfAHang(t *testing.T) {
	const (
		head = "panic: test timed out after 20s\n\trunning tests:\n\t\tTestA (20s)\n\n" +
			"goroutine 18 [running]:\ntesting.(*M).startAlarm.func1()\n\t/go/src/testing/testing.go:2682 +0x1\n\n" +
			"goroutine 1 [chan receive]:\ntesting.(*T).Run(0x1)\n\t/go/src/testing/testing.go:2 +0x1\n" +
			"example.com/informer.TestMain(0x1)\n\t/root/07/informer/main_test.go:9 +0x1\n\n"
		waits = "goroutine 7 [chan receive]:\nexample.com/informer.TestA(0x1)\n\t/root/07/informer/a_test.go:5 +0x1\n\n"
		await = "goroutine 8 [select]:\nexample.com/reflector.await(0x1)\n\t/root/03/reflector/list.go:9 +0x1\n\n"
		calls = "goroutine 7 [select]:\nexample.com/informer.Run(0x1)\n\t/root/07/informer/run.go:1 +0x1\n" +
			"example.com/informer.TestA(0x1)\n\t/root/07/informer/a_test.go:5 +0x1\n\n"
		locks = "goroutine 9 [sync.Mutex.Lock]:\ninternal/sync.lock()\n\t/go/src/sync/mutex.go:1 +0x1\n" +
			"example.com/informer.Replace(0x1)\n\t/root/07/informer/changes.go:7 +0x1\n\n"
	)
	for name, test := range map[string]struct{ stacks, want string }{
		"the test waits":        {await + waits, ", in informer.TestA (07/informer/a_test.go:5)"},
		"the test calls":        {await + calls, ", in informer.Run (07/informer/run.go:1)"},
		"one waits for a lock":  {await + calls + locks, ", in informer.Replace (07/informer/changes.go:7)"},
		"only one that waits":   {await, ", in reflector.await (03/reflector/list.go:9)"},
		"nothing of the course": {"", ""},
	} {
		if got, want := summary("/root", head+test.stacks), "panic: test timed out after 20s"+test.want; got != want {
			t.Errorf("%s: summary() is\n%s\nwant\n%s", name, got, want)
		}
	}
}
