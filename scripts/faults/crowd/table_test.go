package main

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	pages, server := &source{name: "pages of 07"}, &source{name: "API server"}
	o := newOutcome(options{duration: 10 * time.Second, objects: 1000}, "v1.2.3", []*source{pages, server})
	o.lasted[pages], o.lasted[server] = 10*time.Second, 20*time.Second
	o.changes[pages], o.changes[server] = 3000, 4000
	took := func(n int) (all []time.Duration) {
		for i := range n {
			all = append(all, time.Duration(n-i)*time.Millisecond)
		}
		return all
	}
	o.asked[pages] = map[kind]*figures{keys: {took: took(100), bytes: 1000}, whole: {took: took(1), bytes: 500, behind: 2 * time.Second}}
	o.asked[server] = map[kind]*figures{whole: {wrong: 2}}
	o.wrong[pages] = 1
	if n := o.wrongs(); n != 3 {
		t.Errorf("%d wrong answers, want 3", n)
	}
	want := []string{
		"reads a second p50 p99 worst bytes each behind, at most changes a second wrong",
		"",
		"all of these",
		"pages of 07 101 10 50.0 ms 99.0 ms 100 ms 14 2.00 s 300 1",
		"API server 0 0 0 0 0 0 0 200 2",
		"",
		"one object",
		"",
		"names by label",
		"pages of 07 100 10 51.0 ms 100 ms 100 ms 10 0",
		"",
		"a list by label",
		"",
		"the whole list",
		"pages of 07 1 0 1.00 ms 1.00 ms 1.00 ms 500 2.00 s 0",
		"API server 0 0 0 0 0 0 0 2",
	}
	_, text, _ := strings.Cut(o.table("today"), "\n\n")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if got := strings.Join(strings.Fields(line), " "); i >= len(want) || got != want[i] {
			t.Errorf("line %d is %q", i+1, got)
		}
	}
	if head := o.table("today"); !strings.HasPrefix(head, "today: ") || !strings.Contains(head, "v1.2.3; two namespaces with 1,000 pods") {
		t.Errorf("the head is\n%s", head)
	}
}
