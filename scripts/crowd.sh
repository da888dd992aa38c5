#!/bin/sh
# 64 clients read the pages of chapters 07 and 08, and the same from the API
# server, while objects change: scripts/crowd.sh -o FILE (-h lists the flags).
cd "$(dirname "$0")/.." && exec go run ./scripts/faults/crowd "$@"
