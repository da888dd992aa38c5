// Package view is the web page of X-ray: the page itself, and the records of recorders as JSON.
package view

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"html"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/web"
)

//go:embed page
var embedded embed.FS

const maxStreams = 16 // of events, at the same time

// A View shows recorders, one at a time, until its context ends.
type View struct {
	Token string // the page has it, and a request for an action must have it
	Book  string // the address of the reading room, "" if there is none: sections of the book are links to it

	// Comparison is what the page shows, and what else it can show. Default: there is no choice.
	Comparison any

	ctx       context.Context
	recorders []*recorder.Recorder
	instance  string // differs after each start of the program
	streams   web.EventStreams
}

// New returns a view of recorders. It shows the first one unless a query names another.
func New(ctx context.Context, recorders []*recorder.Recorder) *View {
	return &View{
		Token: rand.Text(), ctx: ctx, recorders: recorders, instance: rand.Text(),
		streams: web.NewEventStreams(maxStreams),
	}
}

// Pages returns the pages for a web.Server. The policy of that server forbids them to load anything
// from elsewhere.
func (v *View) Pages() web.Pages {
	return web.Pages{
		"/xray":                v.ForInformer(v.file),
		"/xray/files/:name":    v.ForInformer(v.file),
		"/xray/state":          v.ForInformer(v.state),
		"/xray/events":         v.ForInformer(v.events),
		"/xray/object/:seq":    v.ForInformer(v.object),
		"/xray/handlers/:name": v.ForInformer(v.handler, "implementation"),
	}
}

// ForInformer returns a page about the informer that the query names, or about the first one. The
// page gets the index of its recorder. The query may have more parameters, which are named here.
func (v *View) ForInformer(page func(c *gin.Context, i int), parameters ...string) gin.HandlerFunc {
	parameters = append(parameters, "informer")
	return func(c *gin.Context) {
		query, ok := web.Query(c, parameters...)
		if !ok {
			return
		}
		i := 0
		if name, given := query["informer"]; given {
			i = slices.Index(v.names(), name)
			if i < 0 {
				web.Fail(c, http.StatusNotFound, "there is no informer %q (known: %q)", name, v.names())
				return
			}
		}
		page(c, i)
	}
}

func (v *View) names() (names []string) {
	for _, r := range v.recorders {
		names = append(names, r.Name)
	}
	return names
}

// file answers with the page, or with another file that the page loads. The page has the token that
// its buttons need, and the address of the reading room.
func (v *View) file(c *gin.Context, _ int) {
	name := cmp.Or(c.Param("name"), "index.html")
	text, err := embedded.ReadFile("page/" + name)
	contentType := mime.TypeByExtension(path.Ext(name))
	if err != nil || contentType == "" || c.Param("name") == "index.html" {
		web.Fail(c, http.StatusNotFound, "there is no file %q", name)
		return
	}
	replacer := strings.NewReplacer("{{TOKEN}}", v.Token, "{{BOOK}}", html.EscapeString(v.Book))
	c.Data(http.StatusOK, contentType, []byte(replacer.Replace(string(text))))
}

// message returns a frame as the page gets it.
func (v *View) message(i int, frame recorder.Frame) gin.H {
	r := v.recorders[i]
	return gin.H{
		"instance":  v.instance,
		"informers": v.names(),
		"informer":  r.Name,
		"namespace": r.Namespace,
		"kind":      r.Kind,
		"parts":     r.Parts,
		"compared":  v.Comparison,
		"time":      time.Now().UnixMilli(),
		"seq":       frame.Seq,
		"set":       frame.Stations,
		"records":   frame.Records,
		"missed":    frame.Missed,
	}
}

// state answers with the state now, and no records.
func (v *View) state(c *gin.Context, i int) {
	c.JSON(http.StatusOK, v.message(i, v.recorders[i].After(-1)))
}

// events sends a message when there are new records, until the client goes away or the context of
// the view ends. A slow client holds up nobody: its next message has the state of that moment and
// the last records.
func (v *View) events(c *gin.Context, i int) {
	v.streams.Serve(c, func(s *web.EventStream) {
		for seq := int64(-1); s.Context().Err() == nil; {
			frame := v.recorders[i].After(seq)
			if frame.Seq == seq {
				if !s.Await(frame.More, v.ctx.Done(), time.Hour) {
					return
				}
				continue
			}
			seq = frame.Seq
			text, _ := json.Marshal(v.message(i, frame)) // it never fails: all values are JSON, texts or numbers
			s.Send(text)
		}
	})
}

// object answers with the object of a record, before and after the change.
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
			recorder.MaxRecords, recorder.MaxBytes/1_000_000)
	case !object.Shown():
		web.Fail(c, http.StatusNotFound, "record %d has no object to show: want one of namespace %s, and no Secret",
			seq, v.recorders[i].Namespace)
	default:
		c.JSON(http.StatusOK, object)
	}
}

// handler answers with the last calls of a handler.
func (v *View) handler(c *gin.Context, i int) {
	name := c.Param("name")
	implementation := recorder.Implementation(c.DefaultQuery("implementation", string(recorder.Ours)))
	calls, ok := v.recorders[i].Calls(implementation, name)
	if !ok {
		web.Fail(c, http.StatusNotFound, "there is no handler %q of implementation %q (shown implementations: %q)",
			name, implementation, slices.Sorted(maps.Keys(v.recorders[i].Parts)))
		return
	}
	c.JSON(http.StatusOK, gin.H{"calls": calls})
}
