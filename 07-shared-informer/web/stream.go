// Long answers, one element after the other.

package web

import (
	"bufio"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
)

// streamBuffer is what Stream holds back at most, besides one element.
const streamBuffer = 64 << 10

// Stream answers with a JSON array of the items, one to a line, each encoded
// when it is its turn: the whole is never in memory, but only streamBuffer and
// one item, however long the list. When the client goes away, or does
// not take it all within the WriteTimeout, no more are asked for. When an item
// cannot be encoded, the answer is 500, or, once a part has been sent, ends
// with the connection broken: the client sees that it is not whole.
func Stream[T any](c *gin.Context, items iter.Seq[T]) {
	c.Header("Content-Type", "application/json; charset=utf-8")
	if c.Request.Method == http.MethodHead {
		return
	}
	out := bufio.NewWriterSize(c.Writer, streamBuffer)
	out.WriteString("[")
	separator := ""
	for item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			slog.Error("web: an item of a list cannot be encoded", "path", c.Request.URL.Path, "error", err)
			failed(c)
			return
		}
		out.WriteString(separator)
		separator = ",\n"
		if _, err := out.Write(text); err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
	}
	out.WriteString("]\n")
	if out.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}
