#!/bin/sh
# Measures our informer next to client-go's, about twenty minutes; see docs/bench.
cd "$(dirname "$0")/.." && exec go run ./docs/bench "$@"
