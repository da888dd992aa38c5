#!/bin/sh
# Runs every chapter, start to finish, and compares what it prints with the book.
set -eu
cd "$(dirname "$0")/.."
exec go run ./scripts/cluster exec sh -c '
	all=0 failed=
	for chapter in [0-9][0-9]-*; do
		all=$((all + 1))
		go run "./$chapter" || failed="$failed $chapter"
	done
	if [ -n "$failed" ]; then
		echo "tour: not as expected:$failed; the differences are above" >&2
		exit 1
	fi
	printf "\ntour: all %d chapters as expected\n" "$all"
'
