// Telling a page that a file has changed.

package main

import (
	"context"
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

// changes sends an event when a page, or a file that it shows, has changed. files are the names,
// with commas between them: the page, and the file beside it.
func (r *reader) changes(c *gin.Context) {
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
		s.Send([]byte(`"watching"`))
		for {
			pause, cancel := context.WithTimeout(r.ctx, lookInterval)
			goOn := s.Await(pause.Done(), r.ctx.Done())
			cancel()
			if !goOn {
				return
			}
			if now := r.state(files); now != state {
				state = now
				s.Send([]byte(`"changed"`))
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
