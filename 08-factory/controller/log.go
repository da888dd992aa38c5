package main

import (
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/go-logr/logr"
)

// logger returns a logger that writes the messages of level 0 to w until ctx ends. The lines are
// the same on each run: they lack the time, and the attributes with the omitted keys. After the end
// of ctx, it is a matter of chance whether client-go logs the end of its watches.
func logger(ctx context.Context, w io.Writer, omitted ...string) logr.Logger {
	return logr.FromSlogHandler(slog.NewTextHandler(untilEnd{ctx, w}, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || slices.Contains(omitted, a.Key) {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// untilEnd writes to a Writer until a context ends.
type untilEnd struct {
	ctx context.Context
	to  io.Writer
}

func (u untilEnd) Write(line []byte) (int, error) {
	if u.ctx.Err() != nil {
		return len(line), nil
	}
	return u.to.Write(line)
}
