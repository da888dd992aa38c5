// Events for a page: a file has changed, or a step has done something.

package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/docs/book"
)

const (
	maxStreams      = 16 // of events, at the same time
	lookInterval    = time.Second
	maxWatchedFiles = 4 // of one page
)

// events sends an event when a page, or a file that it shows, has changed, and all events of the
// step that runs. files are the names, with commas between them: the page, and the file beside it.
func (r *reader) events(c *gin.Context) {
	query, ok := web.Query(c, "files")
	if !ok {
		return
	}
	files := strings.Split(query["files"], ",")
	if len(files) > maxWatchedFiles {
		web.Fail(c, http.StatusBadRequest, "%d files are too many: at most %d are watched", len(files), maxWatchedFiles)
		return
	}
	r.streams.Serve(c, func(s *web.EventStream) {
		state := r.state(files)
		s.Send([]byte(`{"event":"watching"}`))
		var played *run
		seen := 0
		for looked := time.Now(); ; {
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
				if now := r.state(files); now != state {
					state = now
					s.Send([]byte(`{"event":"changed"}`))
				}
			}
			if !s.Await(more, r.ctx.Done(), lookInterval) {
				return
			}
		}
	})
}

// state returns a text that differs after one of the files has changed, or a file that a page among
// them shows.
func (r *reader) state(files []string) string {
	all := []string{}
	for _, name := range files {
		if !r.sources.allows(name) {
			continue
		}
		all = append(all, name)
		if strings.HasSuffix(name, ".md") {
			_ = r.library.read(func(b *book.Book) {
				for _, block := range b.Blocks(name) {
					all = append(all, block.File)
				}
			})
		}
	}
	return fingerprintOf(r.root.FS(), all)
}
