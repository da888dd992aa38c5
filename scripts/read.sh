#!/bin/sh
# Shows the book in your browser, on this machine alone: every page, its code beside it, Run,
# the exercises, and find.
# (Not with go run, which would print "exit status 1" after an error.)
cd "$(dirname "$0")/.." || exit
# Without gin's MessagePack, which takes a quarter of the first build and is used by no page.
program=$(GOFLAGS="${GOFLAGS-} -tags=nomsgpack" go tool -n reader) && exec "$program" "$@"
