// Tests of cutting declarations out of Go files.

package book

import "testing"

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
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestDeclarationsOfReceivers(t *testing.T) {
	cases := []struct{ receiver, name string }{
		{"T", "T.f"}, {"*T", "T.f"}, {"t *T", "T.f"}, {"t T[K]", "T.f"}, {"t *T[K, V]", "T.f"}, {"t (T)", "T.f"},
	}
	for _, c := range cases {
		method := "func (" + c.receiver + ") f() {}"
		got, err := declarations("x.go", []byte("package x\n\n"+method+"\n"), []string{c.name})
		if err != nil || got != method {
			t.Errorf("%s of %q: got %q, %v", c.name, method, got, err)
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
		if _, err := declarations("x.go", []byte(c.source), []string{"f"}); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
