#!/bin/sh
# Runs faults at random for half an hour, our informer beside client-go's, on a throw-away control plane.
# Writes the table of the results into docs/lab/faults/soak.txt.
set -eu
case ${1-} in
"") ;;
-h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;;
*) echo "soak.sh: it takes no argument, and got: $*" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
exec go test -v -count 1 -timeout 2h ./docs/lab/faults -run '^TestFaults$' -soak=30m -seed="$(date +%s)" -update
