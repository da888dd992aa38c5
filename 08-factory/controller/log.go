package main

import (
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/go-logr/logr"
)

// logger writes what is logged at level 0 as lines that are the same on each run: without the time,
// and without the attributes with these keys. It writes until ctx ends: whether client-go logs the end
// of its watches then is a matter of chance.
func logger(ctx context.Context, to io.Writer, without ...string) logr.Logger {
	return logr.FromSlogHandler(slog.NewTextHandler(untilEnd{ctx, to}, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || slices.Contains(without, a.Key) {
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
