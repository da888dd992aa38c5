package leaktest

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// verdict is a test that only notes its errors.
type verdict struct {
	testing.TB
	errors []string
}

func (v *verdict) Helper()           {}
func (v *verdict) Error(args ...any) { v.errors = append(v.errors, fmt.Sprint(args...)) }
func (v *verdict) Errorf(format string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(format, args...))
}

// Chapters that leak are found out.
func TestJudge(t *testing.T) {
	const complains = "E1115 reflector.go:227] not you\n"
	for name, test := range map[string]struct {
		chapter Chapter
		said    string
		pages   map[string]string
		asked   []string
		bare    bool // a request had no token
		want    string
	}{
		"nothing leaks":       {said: complains, pages: map[string]string{"/pods": "[]"}},
		"a token in the log":  {said: complains + token, want: "it said \"a-token"},
		"a token on a page":   {said: complains, pages: map[string]string{"/": token}, want: "/ shows \"a-token"},
		"a Secret in the log": {said: complains + encoded, want: "it said"},
		"a Secret on a page":  {said: complains, pages: map[string]string{"/pods": content}, want: "/pods shows"},
		"on a page for it":    {chapter: Chapter{MayShow: []string{"/s"}}, said: complains, pages: map[string]string{"/s": encoded}, asked: []string{"/api/v1/secrets"}},
		"but not the token":   {chapter: Chapter{MayShow: []string{"/s"}}, said: complains, pages: map[string]string{"/s": token}, want: "/s shows"},
		"Secrets are listed":  {said: complains, asked: []string{"/api/v1/namespaces/ns/secrets"}, want: "it asked for Secrets"},
		"no failure":          {said: "all is well", want: "nothing was tested"},
		"no token":            {said: complains, bare: true, want: "nothing was tested"},
	} {
		v := &verdict{TB: t}
		test.chapter.judge(v, &apiServer{stage: onLists, asked: test.asked, tokens: !test.bare}, test.said, test.pages)
		got := strings.Join(v.errors, "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
