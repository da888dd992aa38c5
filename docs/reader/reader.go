// The pages, and the frame around them.

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/web"
)

//go:embed page
var embedded embed.FS

var templates = template.Must(template.ParseFS(embedded, "page/*.html"))

const (
	frontPage    = "docs/README.md"
	maxFileBytes = 1 << 20 // of a file that is shown
)

// A reader serves the pages of the book, and the sources of the workspace.
type reader struct {
	ctx     context.Context
	root    *os.Root
	sources *sources
	library *library
	streams web.EventStreams
	stage   stage

	practice practice
	keeping  sync.Mutex // one request at a time changes what is kept

	programs       string      // a folder for the programs of steps
	startedCluster atomic.Bool // a page has started a cluster, which stays
}

// newReader returns a reader for the workspace in a folder. The caller closes it.
func newReader(ctx context.Context, folder string) (*reader, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	r := &reader{
		ctx: ctx, root: root, sources: newSources(root), library: &library{ws: root.FS()},
		streams: web.NewEventStreams(maxStreams), stage: stage{next: make(chan struct{})},
	}
	err = r.library.read(func(*book.Book) {})
	if err == nil {
		r.programs, err = os.MkdirTemp("", "reader")
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return r, nil
}

// close waits for the step that runs, which ends with the context of the reader.
func (r *reader) close() {
	r.stage.running.Wait()
	os.RemoveAll(r.programs)
	r.root.Close()
}

// pages returns the pages for a web.Server. The path of a file in the workspace is its path here,
// so that the links of a page lead to the same files as on GitHub.
func (r *reader) pages() web.Pages {
	return web.Pages{
		"/":                func(c *gin.Context) { c.Redirect(http.StatusFound, "/"+frontPage) },
		"/-/files/:name":   r.static,
		"/-/find":          r.find,
		"/-/events":        r.events,
		"POST /-/run":      web.JSON(r.serveRun, "transcript", "how", "cluster"),
		"POST /-/stop":     web.JSON(r.serveStop),
		"POST /-/next":     web.JSON(r.serveNext),
		"/-/exercises":     web.JSON(r.serveExercises),
		"POST /-/practice": web.JSON(r.servePractice, "exercise", "action"),
		"POST /-/keep":     web.JSON(r.serveKeep, "page", "section", "theme", "tips"),
		"/-/clone":         web.JSON(r.serveClone),
		"*":                r.anyFile,
	}
}

// static answers with a file that the pages load.
func (r *reader) static(c *gin.Context) {
	name := c.Param("name")
	text, err := embedded.ReadFile("page/" + name)
	contentType := mime.TypeByExtension(path.Ext(name))
	if _, ok := web.Query(c); !ok {
		return
	}
	if err != nil || contentType == "" || path.Ext(name) == ".html" {
		web.Fail(c, http.StatusNotFound, "there is no file %q", name)
		return
	}
	c.Data(http.StatusOK, contentType, text)
}

// anyFile answers for all other paths: a path is that of a file.
func (r *reader) anyFile(c *gin.Context) {
	isRead := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
	if isRead && !strings.HasPrefix(c.Request.URL.Path, "/-/") {
		r.file(c)
		return
	}
	web.Fail(c, http.StatusNotFound, "there is no page %q", c.Request.URL.Path)
}

// file answers with a file of the workspace: a page of the book, a picture, a listing of code, or
// the contents of a folder. The query may name a line of it.
func (r *reader) file(c *gin.Context) {
	query, ok := web.Query(c, "show", "line")
	if !ok {
		return
	}
	line, _ := strconv.Atoi(query["line"]) // 0, which is not a line, if it is not a number
	name := strings.TrimPrefix(c.Request.URL.Path, "/")
	if files := r.sources.below(name); len(files) > 0 {
		r.answer(c, &pageData{Name: name, Title: name, Version: r.version(name), Folder: files})
		return
	}
	version := r.version(name) // before the file is read: a change after that differs from it
	source, err := r.read(name)
	if err != nil {
		r.answer(c, &pageData{Name: name, Title: "There is no such page", Version: version, Problem: err.Error()})
		return
	}
	switch path.Ext(name) {
	case ".md":
		if anchor := sectionAt(source, line); anchor != "" {
			c.Redirect(http.StatusFound, "/"+name+"#"+anchor)
			return
		}
		r.answer(c, r.page(name, version, source))
	case ".png", ".svg":
		c.Data(http.StatusOK, mime.TypeByExtension(path.Ext(name)), source)
	default:
		r.answer(c, r.listing(name, version, source, query["show"], line))
	}
}

// read returns the text of a file that may be shown. It follows no link.
func (r *reader) read(name string) ([]byte, error) {
	if !r.sources.allows(name) {
		return nil, fmt.Errorf("%s is neither a page of the book nor a source of the workspace", name)
	}
	if _, err := book.Stat(r.root.FS(), name); err != nil {
		return nil, err
	}
	file, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFileBytes)
	}
	return text, err
}

// pageData is what the template gets.
type pageData struct {
	Name, Title    string
	Version        string // differs after a file that the page shows has changed
	Parts          []book.Part
	Headings       []heading      // of this page, for the contents
	Body           template.HTML  // of a page
	Code           *listing       // of a file that is not a page
	Folder         []string       // the files of a folder
	Problem        string         // why there is no page
	Suggestions    []book.Section // what the reader may mean then
	Previous, Next *book.Entry
	Chapter        *book.Entry // the page that leads to the exercise on this one
	HasCluster     bool        // a page has started a cluster, and it is still there
	Kept           kept
	HasSteps       bool          // a button runs each of them
	IsPlace        bool          // the page is kept as the one that was read last
	Continue       *continuation // on the front page, where the reader was
}

// HasTips reports whether the page says what Run does: it has steps, and the reader has closed no tips.
func (d *pageData) HasTips() bool { return d.HasSteps && d.Kept.Tips == "" }

var languageInName = regexp.MustCompile(`\b([a-z]{2}-[A-Z]{2})\.md$`)

// Lang returns the language of a page that is not in English, which its name says.
func (d *pageData) Lang() string {
	match := languageInName.FindStringSubmatch(d.Name)
	if match == nil {
		return ""
	}
	return match[1]
}

// answer answers with a page in its frame: the contents, and the links to its neighbours.
func (r *reader) answer(c *gin.Context, data *pageData) {
	data.HasCluster = r.startedCluster.Load() && r.hasKubeconfig()
	data.Kept = r.kept()
	data.IsPlace = data.Problem == "" && r.isPlace(data.Name)
	if data.Name == frontPage {
		data.Continue = r.continuation(data.Kept)
	}
	err := r.library.read(func(b *book.Book) {
		data.Parts = b.Contents()
		if data.Problem != "" {
			data.Suggestions = b.Suggest(data.Name)
		}
		if _, ok := r.findExercise(data.Name); ok {
			data.Chapter = r.chapterOf(b, data.Name)
		}
		chain := append([]string{frontPage}, b.Chain()...)
		i := slices.Index(chain, data.Name)
		if i > 0 {
			data.Previous = &book.Entry{Page: chain[i-1], Title: b.Title(chain[i-1])}
		}
		if i >= 0 && i+1 < len(chain) {
			data.Next = &book.Entry{Page: chain[i+1], Title: b.Title(chain[i+1])}
		}
	})
	if err != nil {
		panic(err) // the log gets it
	}
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, "page.html", data); err != nil {
		panic(err)
	}
	status := http.StatusOK
	if data.Problem != "" {
		status = http.StatusNotFound
	}
	c.Data(status, "text/html; charset=utf-8", text.Bytes())
}

// find answers with the sections that fit what a reader types.
func (r *reader) find(c *gin.Context) {
	query, ok := web.Query(c, "words")
	if !ok {
		return
	}
	const bestSections, maxQuery, maxCorrected = 12, 500, 4 // a line of a log has more words
	words := query["words"]
	if len(words) > maxQuery {
		web.Fail(c, http.StatusBadRequest, "the words have %d bytes, want at most %d", len(words), maxQuery)
		return
	}
	found := foundSections{Sections: []foundSection{}}
	err := r.library.read(func(b *book.Book) {
		completed := b.Complete(words)
		sections := b.Find(completed, bestSections)
		for i, excerpt := range b.Excerpts(completed, sections) {
			found.Sections = append(found.Sections, foundSection{sections[i], excerpt})
		}
		if len(strings.Fields(words)) <= maxCorrected {
			found.Corrected = b.Correct(completed)
		}
	})
	if err != nil {
		panic(err)
	}
	c.JSON(http.StatusOK, found)
}

// foundSections are the sections that fit what a reader types. If the book does not have one of the
// words, the reader may mean another one.
type foundSections struct {
	Sections  []foundSection
	Corrected string
}

// A foundSection is shown with a line of its text.
type foundSection struct {
	book.Section
	Excerpt []book.Piece
}
