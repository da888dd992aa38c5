#!/bin/sh
# Shows the book in your browser, on this machine alone: every page, its code beside it, and find.
# (Not with go run, which would print "exit status 1" after an error.)
cd "$(dirname "$0")/.." && program=$(go tool -n reader) && exec "$program" "$@"
