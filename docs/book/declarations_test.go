// Tests of finding declarations in a Go file.

package book

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeclarations(t *testing.T) {
	const pop = "// Pop takes the next one out.\nfunc (q *Queue[K, V]) Pop() (V, error) {\n\tvar none V\n\treturn " +
		"none, errEmpty\n}"
	const sizes = "// The sizes.\nconst (\n\tsmall = 1\n\tlarge = 2\n)"
	cases := []struct {
		name  string
		names []string
		want  string
	}{
		{"type", []string{"Queue"},
			"// Queue holds what waits.\ntype Queue[K comparable, V any] struct {\n\titems map[K]V // by key\n}"},
		{"method", []string{"Queue.Pop"}, pop},
		{"function without comment", []string{"bare"}, "func bare() {}"},
		{"comment at the end of the line", []string{"errEmpty"},
			`var errEmpty = errors.New("empty") // what Pop returns`},
		{"group", []string{"large"}, sizes},
		{"a group once", []string{"small", "large"}, sizes},
		{"several, in the order asked for", []string{"bare", "Queue.Pop"}, "func bare() {}\n\n" + pop},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := declarations("queue.go", []byte(queueGo), c.names)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("declarations(%q) differs (-want +got):\n%s", c.names, diff)
			}
		})
	}
}

func TestDeclarationsOfReceivers(t *testing.T) {
	for _, receiver := range []string{"T", "*T", "t *T", "t T[K]", "t *T[K, V]", "t (T)"} {
		method := "func (" + receiver + ") f() {}"
		got, err := declarations("x.go", []byte("package x\n\n"+method+"\n"), []string{"T.f"})
		if err != nil || got != method {
			t.Errorf("declarations(T.f) = %q, %v; want %q, nil", got, err, method)
		}
	}
}

func TestUnknownDeclaration(t *testing.T) {
	cases := []struct{ source, want string }{
		{"package x\n", "x.go does not declare f; it declares nothing"},
		{"package x\n\nimport f \"fmt\"\n\nvar a, b = 1, 2\n\ntype T int\n\nfunc (T) f() {}\n",
			"x.go does not declare f; it declares a, b, T, T.f"},
	}
	for _, c := range cases {
		_, err := declarations("x.go", []byte(c.source), []string{"f"})
		if err == nil || err.Error() != c.want {
			t.Errorf("declarations(f) of %q: error %v, want %s", c.source, err, c.want)
		}
	}
}
