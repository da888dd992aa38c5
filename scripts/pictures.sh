#!/bin/sh
# Makes the pictures of the X-ray page anew, docs/pictures/*.png, in a real browser.
set -eu
cd "$(dirname "$0")/.."
[ $# = 0 ] || exec go run ./docs/lab/browser/pictures "$@" # -h needs no cluster
exec go run ./scripts/cluster exec go run ./docs/lab/browser/pictures
