// The book: a page of docs/, so that a caption can link to the section that explains it.

package xray

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/scripts/harness/workspace"
)

var (
	bookPage = regexp.MustCompile(`^[0-9A-Za-z-]+\.md$`)
	heading  = regexp.MustCompile(`^(#{1,6}) (.*)$`)
	bare     = regexp.MustCompile(`^ *</?(details|summary).*|^<!--.*-->$`) // for other readers of Markdown
	link     = regexp.MustCompile(`\[([^\]]+)\]\(([^) ]*)[^)]*\)`)
	inBook   = regexp.MustCompile(`^([0-9A-Za-z-]+\.md)?(#.*)?$`)
)

// book shows a page as it was written, with anchors at its headings.
func (x *XRay) book(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	text, err := readBook(c.Param("page"))
	if err != nil {
		web.Fail(c, http.StatusNotFound, "the book has no page %q here: %v", c.Param("page"), err)
		return
	}
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(asHTML(c.Param("page"), text)))
}

// readBook reads a file of docs/ and nothing else, whatever its name.
func readBook(name string) (string, error) {
	if !bookPage.MatchString(name) {
		return "", fmt.Errorf("want a name such as 03-reflector.md")
	}
	root, err := workspace.Root(".")
	if err != nil {
		return "", err
	}
	docs, err := os.OpenRoot(filepath.Join(root, "docs"))
	if err != nil {
		return "", err
	}
	defer docs.Close()
	text, err := docs.ReadFile(name)
	return string(text), err
}

func asHTML(title, markdown string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"+
		"<meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>"+
		"<link rel=\"stylesheet\" href=\"/xray/files/book.css\"></head><body><pre>", html.EscapeString(title))
	used, code := map[string]bool{}, false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			if code = !code; code {
				out.WriteString("</pre><pre class=\"code\">")
			} else {
				out.WriteString("</pre><pre>")
			}
			continue
		}
		found := heading.FindStringSubmatch(line)
		switch {
		case code:
			out.WriteString(html.EscapeString(line) + "\n")
			continue
		case bare.MatchString(line):
			continue
		case found == nil:
			out.WriteString(link.ReplaceAllStringFunc(html.EscapeString(line), asLink) + "\n")
			continue
		}
		id := anchor(found[2], used)
		fmt.Fprintf(&out, "</pre><h%d id=\"%s\">%s</h%d><pre>", len(found[1]), html.EscapeString(id),
			html.EscapeString(found[2]), len(found[1]))
	}
	out.WriteString("</pre></body></html>\n")
	return out.String()
}

// asLink leaves of a link its text, unless it leads to another page of the book.
func asLink(text string) string {
	parts := link.FindStringSubmatch(text)
	if !inBook.MatchString(parts[2]) {
		return parts[1]
	}
	return fmt.Sprintf(`<a href="%s">%s</a>`, parts[2], parts[1])
}

// anchor is the one that GitHub gives a heading; equal ones are numbered.
func anchor(text string, used map[string]bool) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	unique := id
	for i := 1; used[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	used[unique] = true
	return unique
}
