package main

import (
	"io"
	"log/slog"
	"slices"

	"github.com/go-logr/logr"
)

// logger writes what is logged at level 0 as lines that are the same on each run:
// without the time, and the attributes with these keys.
func logger(to io.Writer, without ...string) logr.Logger {
	return logr.FromSlogHandler(slog.NewTextHandler(to, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || slices.Contains(without, a.Key) {
				return slog.Attr{}
			}
			return a
		},
	}))
}
