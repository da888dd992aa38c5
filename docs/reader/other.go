// One reader for each clone: a second one leads to the first.

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/docs/book"
)

// addressFile has the address of the reader of this clone, with its token. After kill -9 it stays.
const addressFile = keptFolder + "/address"

// serveClone answers with the folder of the clone that is shown here.
func (r *reader) serveClone(*gin.Context) (any, error) {
	return gin.H{"folder": realPath(r.root.Name())}, nil
}

// realPath returns a path without links.
func realPath(folder string) string {
	if followed, err := filepath.EvalSymlinks(folder); err == nil {
		return followed
	}
	return folder
}

// cookieName returns the name of the cookie for a port. The ports of a host share its cookies.
func cookieName(port string) string { return "reader-" + port }

// otherReader returns the address of a reader that shows this clone already, or "". An address that
// does not answer is an old one. One that answers as another clone was copied, together with this
// folder, or its port is somebody else's by now.
func otherReader(ctx context.Context, root *os.Root) (address string) {
	if _, err := book.Stat(root.FS(), addressFile); err != nil {
		return ""
	}
	text, err := root.ReadFile(addressFile)
	if err != nil {
		return ""
	}
	address = strings.TrimSpace(string(text))
	server, err := url.Parse(address)
	if err != nil || server.Hostname() != "127.0.0.1" {
		return ""
	}
	const patience = 5 * time.Second
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.Host+"/-/clone", nil)
	if err != nil {
		return ""
	}
	request.AddCookie(&http.Cookie{Name: cookieName(server.Port()), Value: server.Query().Get("token")})
	response, err := client.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	var shown struct{ Folder string }
	err = json.NewDecoder(http.MaxBytesReader(nil, response.Body, maxFileBytes)).Decode(&shown)
	if err != nil || shown.Folder != realPath(root.Name()) {
		return ""
	}
	return address
}

// publish writes the address of this reader for the next one, until the returned function is called.
// Where the clone cannot be written to, the next reader takes the next port.
func publish(root *os.Root, address string) (withdraw func()) {
	_ = writeKept(root, addressFile, []byte(address+"\n"))
	return func() {
		if text, err := root.ReadFile(addressFile); err == nil && strings.TrimSpace(string(text)) == address {
			_ = root.Remove(addressFile)
		}
	}
}
