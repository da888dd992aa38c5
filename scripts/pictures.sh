#!/bin/sh
# Makes the pictures of the book in a real browser: those of the reading room and of the X-ray page
# anew, and the diagrams that are missing. -h says how to make some of them.
set -eu
cd "$(dirname "$0")/.."
[ $# = 0 ] || exec go run ./docs/lab/browser/pictures "$@" # one kind, on the cluster that is there
exec go run ./scripts/cluster exec go run ./docs/lab/browser/pictures
