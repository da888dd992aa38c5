// Long answers, one element after the other.

package web

import (
	"bufio"
	"encoding/json"
	"iter"

	"github.com/gin-gonic/gin"
)

// streamBuffer is what Stream holds back at most, besides one element.
const streamBuffer = 64 << 10

// Stream answers with a JSON array of the items, one to a line, each encoded
// when it is its turn: the whole is never in memory, but only streamBuffer and
// one item, however long the list. When the client goes away, or does not take
// it all within the writeTimeout, no more are asked for.
func Stream[T any](c *gin.Context, items iter.Seq[T]) {
	c.Header("Content-Type", "application/json; charset=utf-8")
	out := bufio.NewWriterSize(c.Writer, streamBuffer)
	out.WriteString("[")
	separator := ""
	for item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			panic(err)
		}
		out.WriteString(separator)
		separator = ",\n"
		if _, err := out.Write(text); err != nil {
			return // the client is gone
		}
	}
	out.WriteString("]\n")
	out.Flush()
}
