#!/bin/sh
# Removes what steps that were killed have left behind on the cluster; see scripts/harness/session.
cd "$(dirname "$0")/.." && exec go run ./scripts/harness/clean "$@"
