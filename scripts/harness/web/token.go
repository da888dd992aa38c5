// A token that lets one browser in.

package web

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// A Token lets in the browser that was given the address with the token. Any program on the machine
// can reach a server on the loopback interface, so that the address alone is not a secret.
type Token struct {
	name string // of the cookie
	text string
	hint string // for those who do not have it
}

// NewToken returns a new token. The cookies of a host are shared by its ports, so the name of the
// cookie has to differ from those of other servers. hint says where to find the address.
func NewToken(cookie, hint string) Token { return Token{name: cookie, text: rand.Text(), hint: hint} }

// Address returns the address of a server with the token in it.
func (t Token) Address(server string) string { return server + "/?token=" + url.QueryEscape(t.text) }

// Check is a guard: see Serve. It turns the token of an address into a cookie, and redirects to
// the front page, so that the token does not stay in the bar of the browser. Without the cookie, it
// answers with 403, and says what to do: to a person who opens a page, with a page.
func (t Token) Check(c *gin.Context) {
	if given, ok := c.GetQuery("token"); ok && c.Request.Method == http.MethodGet && t.equals(given) {
		http.SetCookie(c.Writer, &http.Cookie{
			Name: t.name, Value: t.text, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		c.Redirect(http.StatusSeeOther, "/")
		c.Abort()
		return
	}
	if cookie, err := c.Request.Cookie(t.name); err == nil && t.equals(cookie.Value) {
		return
	}
	if !strings.Contains(c.GetHeader("Accept"), "text/html") {
		Fail(c, http.StatusForbidden, "%s", t.hint)
		return
	}
	again := *c.Request.URL
	if c.Query("token") != "" { // an old one
		again = url.URL{Path: "/"}
	}
	var text bytes.Buffer
	if err := noToken.Execute(&text, map[string]string{"Hint": t.hint, "Again": again.RequestURI()}); err != nil {
		panic(err)
	}
	c.Abort()
	c.Data(http.StatusForbidden, "text/html; charset=utf-8", text.Bytes())
}

// noToken is what somebody sees who opens a page without the token, such as a tab of a server that
// has ended.
var noToken = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Open the address again</title>
</head>
<body>
<h1>Open the address again</h1>
<p>The server was started again since this page was opened, or this is another browser.</p>
<p>What to do: {{.Hint}}.</p>
<p>Then you can <a href="{{.Again}}">load this page again</a>.</p>
</body>
</html>
`))

// equals takes the same time for every text of the same length.
func (t Token) equals(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(t.text)) == 1
}
