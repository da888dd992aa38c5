package hunk

import (
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

func TestParse(t *testing.T) {
	before, after := Parse(" kept\n\n-old\n+new\n+newer\n kept too\n")
	if want := "kept\n\nold\nkept too\n"; before != want {
		t.Errorf("before = %q, want %q", before, want)
	}
	if want := "kept\n\nnew\nnewer\nkept too\n"; after != want {
		t.Errorf("after = %q, want %q", after, want)
	}
}

func TestApply(t *testing.T) {
	got, err := Apply("one\ntwo\nthree\nfour\n", "-two\n+2\n three\n@@\n-four\n")
	must.NoError(t, err)
	if want := "one\n2\nthree\n"; got != want {
		t.Errorf("Apply() = %q, want %q", got, want)
	}
	for _, test := range []struct {
		name, text, want string
	}{
		{name: "not there", text: "one\n", want: "0 times"},
		{name: "there twice", text: "two\ntwo\n", want: "2 times"},
	} {
		_, err := Apply(test.text, "-two\n+2\n")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Apply() = %v, want an error with %q", test.name, err, test.want)
		}
	}
}
