// The pages of the book, so that a caption can link to the section that explains it.

package view

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/workspace"
)

var (
	bookPage = regexp.MustCompile(`^[0-9A-Za-z-]+\.md$`)

	// keptLink matches the links that work in the browser: other pages of the book, sections, and
	// web sites.
	keptLink = regexp.MustCompile(`^([0-9A-Za-z-]+\.md)?(#.*)?$|^https://`)
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

// readBook returns a page of docs/ as HTML. Whatever the name is, it reads no file outside that
// folder.
func readBook(name string) (string, error) {
	if !bookPage.MatchString(name) {
		return "", errors.New("want a name such as 03-reflector.md")
	}
	root, err := workspace.Root(".")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		return "", err
	}
	body, err := markdown.HTML(text, keptLink.MatchString)
	if err != nil {
		return "", err
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
	return fmt.Sprintf(bookHTML, html.EscapeString(title), body), nil
}
