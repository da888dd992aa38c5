#!/bin/sh
# Makes a cluster of containers with kind; see scripts/cluster.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster up kind "$@"
