// Tests of turning a file.

package upstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const before = `// A licence.

package cache

import (
	"errors"
	"testing"

	"example.com/logs/v2"
)

func isStarted(i any) bool {
	return i.(*private).started
}

func TestOne(t *testing.T) {
	s := NewStore(key)
	s.NewStore(field)
	v := isStarted(s)
	logs.Print(v)
}

func TestOther(t *testing.T) { errors.New("private") }
`

const after = `// A licence.

HEADER

import (
	_ "errors"
	"testing"

	"example.com/logs/v2"
)





func TestOne(t *testing.T) {
	s := ours.NewStore(key)
	s.NewStore(method)
	v := ours.IsStarted(s)
	logs.Print(v)
}


FOOTER`

func TestTurn(t *testing.T) {
	want := strings.NewReplacer("HEADER", header, "FOOTER", footer).Replace(after)
	got, tests, err := turn(before, source{
		edits:   []edit{{"field", "method"}},
		leftOut: map[string]string{"TestOther": "for a reason"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the text of turn() differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"TestOne"}, tests); diff != "" {
		t.Errorf("the tests of turn() differ (-want +got):\n%s", diff)
	}
}

// A newer client-go may no longer have the names of a source.
func TestTurnFailsIfANameIsGone(t *testing.T) {
	for name, s := range map[string]source{
		"TestGone": {leftOut: map[string]string{"TestGone": "for a reason"}},
		"a.gone":   {edits: []edit{{"a.gone", "b"}}},
	} {
		if _, _, err := turn(before, s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("turn() = %v, want an error that names %s", err, name)
		}
	}
}
