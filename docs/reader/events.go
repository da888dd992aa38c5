// Events for a page: a file has changed, or a step has done something.

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/web"
)

const (
	maxStreams      = 16 // of events, at the same time
	lookInterval    = time.Second
	maxWatchedFiles = 4 // of one page
)

// events sends an event when a page, or a file that it shows, has changed, and all events of the
// step that runs. files are the names, with commas between them: the page, and the file beside it.
// versions are those that the browser has. It has loaded them a moment ago, and meanwhile they may
// have changed.
func (r *reader) events(c *gin.Context) {
	query, ok := web.Query(c, "files", "versions")
	if !ok {
		return
	}
	files := strings.Split(query["files"], ",")
	if len(files) > maxWatchedFiles {
		web.Fail(c, http.StatusBadRequest, "%d files are too many: at most %d are watched", len(files), maxWatchedFiles)
		return
	}
	r.streams.Serve(c, func(s *web.EventStream) {
		versions, given := query["versions"]
		if !given {
			versions = r.versions(files)
		}
		s.Send([]byte(`{"event":"watching"}`))
		var played *run
		seen := 0
		for looked := (time.Time{}); ; {
			run, more := r.stage.current()
			if run != played {
				played, seen = run, 0
			}
			if played != nil {
				var events []json.RawMessage
				events, more = played.from(seen)
				seen += len(events)
				for _, event := range events {
					s.Send(event)
				}
			}
			if time.Since(looked) >= lookInterval {
				looked = time.Now()
				if now := r.versions(files); now != versions {
					versions = now
					s.Send([]byte(`{"event":"changed"}`))
				}
			}
			if !s.Await(more, r.ctx.Done(), lookInterval) {
				return
			}
		}
	})
}

// versions returns the versions of files, with commas between them.
func (r *reader) versions(files []string) string {
	versions := make([]string, len(files))
	for i, name := range files {
		versions[i] = r.version(name)
	}
	return strings.Join(versions, ",")
}

// version returns a text that differs after a file has changed, or a file that a page shows.
func (r *reader) version(name string) string {
	if !r.sources.allows(name) {
		return "none"
	}
	all := []string{name}
	if strings.HasSuffix(name, ".md") {
		_ = r.library.read(func(b *book.Book) {
			for _, block := range b.Blocks(name) {
				all = append(all, block.File)
			}
		})
	}
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte(fingerprintOf(r.root.FS(), all))))
}
