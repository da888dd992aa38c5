#!/bin/sh
# Makes a cluster on this machine, without containers; see scripts/cluster. With -build its
# programs are built from Go modules, even where they can be downloaded.
cd "$(dirname "$0")/.." && exec go run ./scripts/cluster "$@" up local
