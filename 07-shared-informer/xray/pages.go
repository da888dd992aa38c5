// The pages: what can be read with GET.

package xray

import (
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
)

//go:embed page
var embedded embed.FS

// Pages are what a web.Server serves. What they answer is allowed to load nothing
// from elsewhere: that is the server's policy.
func (x *XRay) Pages() web.Pages {
	return web.Pages{
		"/xray":                x.index,
		"/xray/files/:name":    x.file,
		"/xray/state":          x.state,
		"/xray/events":         x.events,
		"/xray/object/:seq":    x.object,
		"/xray/handlers/:name": x.handler,
		"/xray/book/:page":     x.book,
		"POST /xray/do":        x.do,
	}
}

// subject is the informer that the query names. If ok is false, the answer is given.
func (x *XRay) subject(c *gin.Context, more ...string) (s *Subject, query map[string]string, ok bool) {
	query, ok = web.Query(c, append(more, "informer")...)
	if !ok {
		return nil, nil, false
	}
	name, given := query["informer"]
	if !given {
		return x.subjects[0], query, true
	}
	i := slices.IndexFunc(x.subjects, func(s *Subject) bool { return s.Name == name })
	if i < 0 {
		web.Fail(c, http.StatusNotFound, "there is no informer %q (known: %q)", name, x.names())
		return nil, nil, false
	}
	return x.subjects[i], query, true
}

func (x *XRay) names() (names []string) {
	for _, s := range x.subjects {
		names = append(names, s.Name)
	}
	return names
}

// index is the page, with the token that its buttons need.
func (x *XRay) index(c *gin.Context) {
	if _, _, ok := x.subject(c); !ok {
		return
	}
	page, err := embedded.ReadFile("page/index.html")
	if err != nil {
		panic(err) // it is embedded
	}
	html := strings.ReplaceAll(string(page), "{{TOKEN}}", x.token)
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(html))
}

func (x *XRay) file(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	name := c.Param("name")
	text, err := fs.ReadFile(embedded, "page/"+name)
	kind := mime.TypeByExtension(path.Ext(name))
	if err != nil || kind == "" || name == "index.html" {
		web.Fail(c, http.StatusNotFound, "there is no file %q", name)
		return
	}
	c.Data(http.StatusOK, kind, text)
}

func (x *XRay) state(c *gin.Context) {
	if s, _, ok := x.subject(c); ok {
		c.JSON(http.StatusOK, x.complete(s.recorder.state()))
	}
}

// complete adds what is the same for all informers.
func (x *XRay) complete(s snapshot) snapshot {
	s.Instance, s.Informers, s.Namespace = x.instance, x.names(), x.namespace
	return s
}

// object shows an object before and after a record.
func (x *XRay) object(c *gin.Context) {
	s, _, ok := x.subject(c)
	if !ok {
		return
	}
	seq, err := strconv.ParseInt(c.Param("seq"), 10, 64)
	if err != nil || seq < 1 {
		web.Fail(c, http.StatusBadRequest, "%q is no number of a record: want 1 or more", c.Param("seq"))
		return
	}
	found, ok := s.recorder.object(seq)
	switch {
	case !ok:
		web.Fail(c, http.StatusNotFound, "record %d is not kept: only the last %d are, and %d MB at most", seq,
			keptRecords, keptBytes/1_000_000)
	case found.before == nil && found.after == nil:
		web.Fail(c, http.StatusNotFound, "record %d has no object to show: want one of namespace %s, and no Secret",
			seq, s.namespace)
	default:
		c.JSON(http.StatusOK, gin.H{"key": found.key, "before": found.before, "after": found.after})
	}
}

func (x *XRay) handler(c *gin.Context) {
	s, query, ok := x.subject(c, "lane")
	if !ok {
		return
	}
	name, lane := c.Param("name"), query["lane"]
	if lane == "" {
		lane = ours
	}
	calls, ok := s.recorder.calls(lane, name)
	if !ok {
		web.Fail(c, http.StatusNotFound, "there is no handler %q in lane %q (known lanes: %q)", name, lane,
			[]string{ours, clientGo})
		return
	}
	c.JSON(http.StatusOK, gin.H{"name": name, "lane": lane, "calls": calls})
}
