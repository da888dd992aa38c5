#!/bin/sh
# Removes the local cluster; see scripts/cluster.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster down local
