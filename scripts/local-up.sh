#!/bin/sh
# Makes a cluster on this machine, without containers; see scripts/cluster.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster up local
