// Tests of -follow.

package step

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// A step that fails before it serves is not waited for: the error comes at
// once, and nothing is suggested.
func TestFollowAStepThatFailsBeforeItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Chapter{
			Name: "00-test", Offline: true,
			Files: fstest.MapFS{"testdata/page.txt": {Data: []byte("$ curl 'http://ADDRESS/'\nhello\n")}},
			Steps: []Step{{Name: "page", Run: func(context.Context, *Lesson) error {
				return errors.New("the port is taken")
			}}},
		}
		began := time.Now()
		var stdout, stderr strings.Builder
		code := c.run(t.Context(), []string{"page", "-follow"}, strings.NewReader(""), &stdout, &stderr)
		if took := time.Since(began); code != exitFailed || took > settling {
			t.Errorf("exit code %d after %v, want %d at once", code, took, exitFailed)
		}
		if strings.Contains(stdout.String(), "Try") || !strings.Contains(stderr.String(), "the port is taken") {
			t.Errorf("stdout:\n%s\nstderr:\n%s", &stdout, &stderr)
		}
	})
}
