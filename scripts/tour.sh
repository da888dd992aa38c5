#!/bin/sh
# Runs every chapter, start to finish, and compares what it prints with the book. Chapters 01
# and 06 need no cluster: they come first, while the programs of one are fetched or built.
set -eu
case ${1-} in
"") ;;
-h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;;
*) echo "tour.sh: it takes no argument, and got: $*" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
failed=
play() { go run "./$1" -patience 1m || failed="$failed $1"; }

play 01-deltafifo
mkdir -p .cluster/bin
go build -o .cluster/bin/cluster ./scripts/cluster
.cluster/bin/cluster prepare 2>.cluster/prepare.log &
preparing=$! following=
trap 'kill $preparing $following 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP
printf '\ntour: chapter 06 comes next, because it needs no cluster; meanwhile the programs of one are made ready\n'
play 06-processor
if kill -0 $preparing 2>/dev/null; then
	printf '\ntour: the other chapters need a cluster, and its programs are not ready yet\n' >&2
	tail -n +1 -f .cluster/prepare.log >&2 &
	following=$!
fi
wait $preparing || { cat .cluster/prepare.log >&2; exit 1; }
kill $following 2>/dev/null || true
trap - EXIT INT TERM HUP

export failed
exec .cluster/bin/cluster exec sh -c '
	for chapter in [0-9][0-9]-* 08-factory/controller; do
		case $chapter in 01-*|06-*) continue ;; esac
		go run "./$chapter" -patience 1m || failed="$failed $chapter"
	done
	(cd 08-factory/kubernetes && GOWORK=off go run -trimpath . -patience 1m) || failed="$failed 08-factory/kubernetes"
	if [ -n "$failed" ]; then
		echo "tour: not as expected:$failed; the differences are above" >&2
		exit 1
	fi
	printf "\ntour: all chapters as expected\n"
'
