// Streams: lists of any length, in little memory.

package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/gin-gonic/gin"
)

// streamBuffer is how many bytes stream holds back at most, besides one item.
const streamBuffer = 64 << 10

// stream answers with a JSON array of the items, one in each line. It encodes an item when its turn
// comes, so that it never has the whole list in memory, however long the list is. If the client
// goes away, or does not take everything within the writeTimeout, stream asks for no more items.
func stream[T any](c *gin.Context, items iter.Seq[T]) {
	c.Header("Content-Type", "application/json; charset=utf-8")
	out := bufio.NewWriterSize(c.Writer, streamBuffer)
	fmt.Fprint(out, "[")
	first := true
	for item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			panic(err)
		}
		if !first {
			fmt.Fprint(out, ",\n")
		}
		first = false
		if _, err := out.Write(text); err != nil {
			return // the client is gone
		}
	}
	fmt.Fprint(out, "]\n")
	_ = out.Flush() // if it fails, the client is gone
}
