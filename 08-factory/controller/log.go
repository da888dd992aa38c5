package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

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

// A speaker writes lines of a log with its name in front. It drops errors: how often a replica
// without a connection fails is a matter of chance.
type speaker struct {
	name string
	to   io.Writer
}

func (s speaker) Write(line []byte) (int, error) {
	text, isInfo := strings.CutPrefix(string(line), "level=INFO ")
	if isInfo {
		_, err := fmt.Fprintf(s.to, "%s : %s", s.name, text)
		return len(line), err
	}
	return len(line), nil
}
