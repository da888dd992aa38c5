// Package view is the web page on which one sees what recorders have: the page itself,
// the state and the history in JSON, and the book.
package view

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/07-shared-informer/xray/recorder"
	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/workspace"
)

const (
	maxStreams  = 16               // at the same time
	aliveTime   = 10 * time.Second // between two signs of life
	sendTimeout = 10 * time.Second // for a client to take what is sent
)

//go:embed page
var embedded embed.FS

// A View shows recorders, one at a time, until its context ends.
type View struct {
	Token string // is in the page: a request for an action must have it

	ctx       context.Context
	recorders []*recorder.Recorder
	instance  string        // another one after each start of the program
	streams   chan struct{} // holds one element for each client that gets events
}

// New returns a view of recorders, of which the first is shown unless a query names
// another.
func New(ctx context.Context, recorders []*recorder.Recorder) *View {
	return &View{
		Token: rand.Text(), ctx: ctx, recorders: recorders, instance: rand.Text(),
		streams: make(chan struct{}, maxStreams),
	}
}

// Pages are what a web.Server serves. What they answer is allowed to load nothing
// from elsewhere: that is the server's policy.
func (v *View) Pages() web.Pages {
	return web.Pages{
		"/xray":                v.About(v.file),
		"/xray/files/:name":    v.About(v.file),
		"/xray/state":          v.About(v.state),
		"/xray/events":         v.About(v.events),
		"/xray/object/:seq":    v.About(v.object),
		"/xray/handlers/:name": v.About(v.handler, "lane"),
		"/xray/book/:page":     book,
	}
}

// About is a page about the informer that the query names. It may have more parameters.
func (v *View) About(page func(c *gin.Context, i int), more ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		query, ok := web.Query(c, append(more, "informer")...)
		name, given := query["informer"]
		i := slices.Index(v.names(), name)
		switch {
		case !ok:
		case !given:
			page(c, 0)
		case i < 0:
			web.Fail(c, http.StatusNotFound, "there is no informer %q (known: %q)", name, v.names())
		default:
			page(c, i)
		}
	}
}

func (v *View) names() (names []string) {
	for _, r := range v.recorders {
		names = append(names, r.Name)
	}
	return names
}

// file is the page, with the token that its buttons need, or another file of it.
func (v *View) file(c *gin.Context, _ int) {
	name := cmp.Or(c.Param("name"), "index.html")
	text, err := embedded.ReadFile("page/" + name)
	kind := mime.TypeByExtension(path.Ext(name))
	if err != nil || kind == "" || c.Param("name") == "index.html" {
		web.Fail(c, http.StatusNotFound, "there is no file %q", name)
		return
	}
	c.Data(http.StatusOK, kind, bytes.ReplaceAll(text, []byte("{{TOKEN}}"), []byte(v.Token)))
}

// message is a frame, and what is the same for all of them.
func (v *View) message(i int, now recorder.Frame) gin.H {
	of := v.recorders[i]
	return gin.H{
		"instance": v.instance, "informers": v.names(), "informer": of.Name, "namespace": of.Namespace, "kind": of.Kind,
		"time": time.Now().UnixMilli(), "seq": now.Seq, "set": now.Set, "records": now.Records, "missed": now.Missed,
	}
}

func (v *View) state(c *gin.Context, i int) {
	c.JSON(http.StatusOK, v.message(i, v.recorders[i].After(-1)))
}

// events sends a message whenever there is something new, until the client goes away, or
// all ends. A client that reads slowly holds up nobody: it gets the state as it is then,
// and the last records.
func (v *View) events(c *gin.Context, i int) {
	select {
	case v.streams <- struct{}{}:
		defer func() { <-v.streams }()
	default:
		web.Fail(c, http.StatusServiceUnavailable, "%d pages get events already: close one", maxStreams)
		return
	}
	c.Header("Content-Type", "text/event-stream; charset=utf-8")
	c.Status(http.StatusOK)
	connection := http.NewResponseController(c.Writer)
	if c.Request.Method == http.MethodHead ||
		connection.SetReadDeadline(time.Time{}) != nil { // else the request would end with the server's timeout
		return
	}
	send := func(format string, text []byte) { // if the client does not take it, the context of the request ends
		connection.SetWriteDeadline(time.Now().Add(sendTimeout))
		fmt.Fprintf(c.Writer, format, text)
		connection.Flush()
	}
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	for seq := int64(-1); c.Request.Context().Err() == nil; {
		now := v.recorders[i].After(seq)
		if now.Seq != seq {
			seq = now.Seq
			text, _ := json.Marshal(v.message(i, now)) // all of it is in JSON already, or plain
			send("data: %s\n\n", text)
			continue
		}
		select {
		case <-now.More:
		case <-alive.C:
			send(": %s\n\n", []byte("alive"))
		case <-c.Request.Context().Done():
			return
		case <-v.ctx.Done():
			return
		}
	}
}

// object shows an object before and after a record.
func (v *View) object(c *gin.Context, i int) {
	seq, err := strconv.ParseInt(c.Param("seq"), 10, 64)
	if err != nil || seq < 1 {
		web.Fail(c, http.StatusBadRequest, "%q is no number of a record: want 1 or more", c.Param("seq"))
		return
	}
	object, ok := v.recorders[i].Object(seq)
	switch {
	case !ok:
		web.Fail(c, http.StatusNotFound, "record %d is not kept: only the last %d are, and %d MB at most", seq,
			recorder.KeptRecords, recorder.KeptBytes/1_000_000)
	case !object.Shown():
		web.Fail(c, http.StatusNotFound, "record %d has no object to show: want one of namespace %s, and no Secret",
			seq, v.recorders[i].Namespace)
	default:
		c.JSON(http.StatusOK, object)
	}
}

func (v *View) handler(c *gin.Context, i int) {
	name, lane := c.Param("name"), c.DefaultQuery("lane", recorder.Ours)
	calls, ok := v.recorders[i].Calls(lane, name)
	if !ok {
		web.Fail(c, http.StatusNotFound, "there is no handler %q in lane %q (known lanes: %q)", name, lane,
			[]string{recorder.Ours, recorder.Theirs})
		return
	}
	c.JSON(http.StatusOK, gin.H{"calls": calls})
}

// The book: a page of docs/, so that a caption can link to the section that explains it.
var (
	bookPage = regexp.MustCompile(`^[0-9A-Za-z-]+\.md$`)
	leadsOn  = regexp.MustCompile(`^([0-9A-Za-z-]+\.md)?(#.*)?$|^https://`) // what a page links to and this program has
)

const bookHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title>
<link rel="icon" href="/xray/files/icon.svg"><link rel="stylesheet" href="/xray/files/book.css"></head><body>
%s</body></html>
`

func book(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	page, err := readBook(c.Param("page"))
	if err != nil {
		web.Fail(c, http.StatusNotFound, "the book has no page %q here: %v", c.Param("page"), err)
		return
	}
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(page))
}

// readBook makes a web page of a file of docs/ and of nothing else, whatever its name.
func readBook(name string) (string, error) {
	if !bookPage.MatchString(name) {
		return "", fmt.Errorf("want a name such as 03-reflector.md")
	}
	root, err := workspace.Root(".")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		return "", err
	}
	inside, err := markdown.HTML(text, leadsOn.MatchString)
	title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
	return fmt.Sprintf(bookHTML, html.EscapeString(title), inside), err
}
