package hunk_test

import (
	"testing"

	"example.com/informer/scripts/harness/hunk"
)

func TestParse(t *testing.T) {
	before, after := hunk.Parse(" a\n-b\n+c\n\n d\n")
	if want := "a\nb\n\nd\n"; before != want {
		t.Errorf("before is %q, want %q", before, want)
	}
	if want := "a\nc\n\nd\n"; after != want {
		t.Errorf("after is %q, want %q", after, want)
	}
}
