#!/bin/sh
# Measures our informer next to client-go's, about twenty minutes; see docs/lab/bench.
cd "$(dirname "$0")/.." && exec go run ./docs/lab/bench "$@"
