#!/bin/sh
# Loads our factory and client-go's, side by side, about five minutes; see docs/lab/load.
set -eu
case ${1-} in
"") ;;
-h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;;
*) echo "load.sh: it takes no argument, and got: $*" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../docs/lab/load"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go run . head >"$dir/results.txt"
go test -c -o "$dir/load.test"
"$dir/load.test" -test.run '^$' -test.bench '^BenchmarkLoad$' -test.benchtime 1x >"$dir/output" ||
	{ cat "$dir/output" >&2; exit 1; }
grep '^Benchmark' "$dir/output" >>"$dir/results.txt"
mv "$dir/results.txt" .
go run . <results.txt >table.txt
cat table.txt
