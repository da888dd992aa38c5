#!/bin/sh
# Measures our informer next to client-go's, about four minutes; see scripts/bench.
cd "$(dirname "$0")/.." && exec go run ./scripts/bench "$@"
