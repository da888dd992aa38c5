#!/bin/sh
# Faults at random, our informer beside client-go's, on a throw-away control
# plane: scripts/soak.sh -duration 30m (-h lists the flags).
cd "$(dirname "$0")/.." && exec go run ./docs/lab/faults "$@"
