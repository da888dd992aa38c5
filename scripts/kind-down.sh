#!/bin/sh
# Removes the kind cluster; see scripts/cluster.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster down kind
