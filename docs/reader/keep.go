// What the reading room keeps from one start to the next: where the reader was, and what the reader
// has chosen. It is kept in the clone, because a browser keeps things for an address, and the next
// start may have another one.

package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/web"
)

const (
	keptFolder = ".reader" // in the clone: git ignores it
	keptFile   = keptFolder + "/kept.json"
)

// kept is what is kept. Each field is "" if the reader has left it as it was.
type kept struct {
	Page    string `json:"page,omitempty"`    // the one that was read last
	Section string `json:"section,omitempty"` // the anchor of its section
	Theme   string `json:"theme,omitempty"`   // light or dark; "": what the system has
	Tips    string `json:"tips,omitempty"`    // closed
}

// kept returns what is kept. A file that cannot be read, or is broken, is as good as none.
func (r *reader) kept() (k kept) {
	if _, err := book.Stat(r.root.FS(), keptFile); err != nil {
		return kept{}
	}
	text, err := r.root.ReadFile(keptFile)
	if err != nil || json.Unmarshal(text, &k) != nil {
		return kept{}
	}
	return k
}

// serveKeep answers a request to keep a place, the theme, or that the tips are closed. If several
// tabs ask, or several programs, the last one wins.
func (r *reader) serveKeep(c *gin.Context) (any, error) {
	query := c.Request.URL.Query()
	page, section, theme, tips := query.Get("page"), query.Get("section"), query.Get("theme"), query.Get("tips")
	r.keeping.Lock()
	defer r.keeping.Unlock()
	k := r.kept()
	if query.Has("page") {
		if !r.isPlace(page) || section != "" && r.heading(page, section) == "" {
			return nil, web.Errorf(http.StatusNotFound, "there is no section %q of a page %q", section, page)
		}
		k.Page, k.Section = page, section
	}
	switch theme {
	case "":
	case "light", "dark":
		k.Theme = theme
	case "system":
		k.Theme = ""
	default:
		return nil, web.Errorf(http.StatusBadRequest, "the theme is light, dark or system, not %q", theme)
	}
	switch tips {
	case "":
	case "closed":
		k.Tips = tips
	default:
		return nil, web.Errorf(http.StatusBadRequest, "the tips can be closed, not %q", tips)
	}
	text, _ := json.Marshal(k) // strings can always be marshaled
	if err := writeKept(r.root, keptFile, text); err != nil {
		return nil, web.Errorf(http.StatusConflict, "keeping this: %v", err)
	}
	return gin.H{}, nil
}

// writeKept writes a file in the folder of what is kept, as a whole: who reads it meanwhile, or
// after a crash, gets the old text or the new one.
func writeKept(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(keptFolder, 0o700); err != nil {
		return err
	}
	temp := name + "." + rand.Text()         // another reader has its own
	defer func() { _ = root.Remove(temp) }() // after the rename, it is not there
	file, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}

// isPlace reports whether a page is one where a reader reads on: a page of the book, or an exercise.
func (r *reader) isPlace(page string) bool {
	_, isExercise := r.findExercise(page)
	isPage := strings.HasPrefix(page, "docs/") && path.Ext(page) == ".md" && page != frontPage && r.hasFile(page)
	return isPage || isExercise
}

// heading returns the heading of a section, or "" if there is none.
func (r *reader) heading(page, section string) (text string) {
	err := r.library.read(func(b *book.Book) { text, _ = b.Heading(page, section) })
	if err != nil {
		panic(err) // the log gets it
	}
	return text
}

// A continuation leads to where the reader was.
type continuation struct {
	Address string
	Label   string // such as "05, Four rules"
	Page    string // its title, if the label does not have it
}

var chapterNumber = regexp.MustCompile(`^(?:docs/)?(\d\d)-`)

// continuation returns where the reader was, or nil.
func (r *reader) continuation(k kept) *continuation {
	if !r.isPlace(k.Page) {
		return nil
	}
	var title string
	err := r.library.read(func(b *book.Book) { title = b.Title(k.Page) })
	if err != nil {
		panic(err) // the log gets it
	}
	if _, rest, ok := strings.Cut(title, " · "); ok { // the label has the number
		title = rest
	}
	c := &continuation{Address: "/" + k.Page, Label: title}
	section := r.heading(k.Page, k.Section)
	if section != "" {
		c.Address += "#" + k.Section
	}
	switch number := chapterNumber.FindStringSubmatch(k.Page); {
	case number == nil && section != "":
		c.Label = title + ", " + section
	case number != nil && section != "":
		c.Label, c.Page = number[1]+", "+section, title
	case number != nil:
		c.Label = number[1] + ", " + title
	}
	return c
}
