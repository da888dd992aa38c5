// Tests of finding an engine, among commands that are shell scripts.

package kind

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDetect(t *testing.T) {
	const works = "\ncase $1 in -v) echo %s version 9;; ps) ;; *) exit 1;; esac"
	podman := strings.ReplaceAll(works, "%s", "podman")
	for name, c := range map[string]struct {
		commands map[string]string
		only     string
		want     string // "" for none
	}{
		"nothing installed":       {nil, "", ""},
		"a client without engine": {map[string]string{"docker": "[ $1 = -v ] && echo Docker version 9"}, "", ""},
		"docker": {map[string]string{"docker": strings.ReplaceAll(works, "%s", "Docker"),
			"podman": podman}, "", "docker"},
		"podman alone":           {map[string]string{"podman": podman}, "", "podman"},
		"podman, also as docker": {map[string]string{"docker": podman, "podman": podman}, "", "podman"},
		"docker down, podman well": {map[string]string{"docker": "[ $1 = -v ] && echo Docker version 9",
			"podman": podman}, "", "podman"},
		"docker not wanted": {map[string]string{"docker": strings.ReplaceAll(works, "%s", "Docker"),
			"podman": podman}, "podman", "podman"},
	} {
		install(t, c.commands)
		t.Setenv("KIND_EXPERIMENTAL_PROVIDER", c.only)
		e, err := detect(t.Context())
		if e.command != c.want || (c.want == "") != errors.Is(err, ErrNoEngine) {
			t.Errorf("%s: %q, %v; want %q", name, e.command, err, c.want)
		}
	}
}

func TestNoEngine(t *testing.T) {
	install(t, nil)
	for doing, do := range map[string]func() error{
		"up":   func() error { _, err := Up(t.Context(), filepath.Join(t.TempDir(), "k"), io.Discard); return err },
		"down": func() error { _, err := Down(t.Context(), io.Discard); return err },
		"ask":  func() error { return EngineAnswers(t.Context()) },
	} {
		err := do()
		if !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), "scripts/local-up.sh") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", doing, err)
		}
	}
}

func TestEngineThatHangs(t *testing.T) {
	install(t, map[string]string{"docker": "[ $1 = -v ] && echo Docker version 9 && exit; /bin/sleep 1000"})
	begin := time.Now()
	if err := EngineAnswers(t.Context()); !errors.Is(err, ErrNoEngine) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 2*answerWithin {
		t.Errorf("took %s", took)
	}
}
