#!/bin/sh
# Removes the cluster that kind-up.sh or local-up.sh made; see scripts/cluster.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster down "$@"
