#!/bin/sh
# Loads our factory and client-go's, side by side, about five minutes; see docs/lab/load.
cd "$(dirname "$0")/.." && exec go run ./docs/lab/load "$@"
