#!/bin/sh
# Removes the cluster that local-up.sh or kind-up.sh made; see scripts/cluster.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster down "$@"
