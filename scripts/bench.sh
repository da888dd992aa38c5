#!/bin/sh
# Measures our informer next to client-go's, about half an hour; see docs/lab/bench.
set -eu
case ${1-} in
"") ;;
-h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;;
*) echo "bench.sh: it takes no argument, and got: $*" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../docs/lab/bench"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go run . head >"$dir/results.txt"
go test -c -o "$dir/bench.test"

# Each measurement is a process of its own, so that none inherits the heap of another. The informers
# follow each other, so that other work of the machine hits all of them, and they take turns in being
# first. For a benchmark with many objects, the time is a number of runs, because it makes all objects
# for each guess of how often it fits into a second. 3x of readers is three seconds.
informers="client-go part1 part2"
for round in 1 2 3; do
	echo "round $round of 3" >&2
	while read -r time benchmark; do
		for informer in $informers; do
			"$dir/bench.test" -test.run '^$' -test.benchtime "$time" \
				-test.bench "^Benchmark$(echo "$benchmark/informer=$informer" | sed 's,/,$/^,g')$" \
				</dev/null >"$dir/output" || { cat "$dir/output" >&2; exit 1; }
			grep '^Benchmark' "$dir/output" | tee -a "$dir/results.txt"
		done
	done <<-END
		1s Events/handlers=1/objects=1000
		1s Events/handlers=10/objects=1000
		1s Events/handlers=100/objects=1000
		1s Events/handlers=1000/objects=1000
		1s Observed/handlers=1/objects=1000
		100000x Events/handlers=10/objects=10000
		100000x Events/handlers=10/objects=100000
		20x Sync/handlers=10/objects=1000
		5x Sync/handlers=10/objects=10000
		1x Sync/handlers=10/objects=100000
		1000000x Stalled/handlers=1/objects=1000
		20000x Latency/handlers=10/objects=1000
		3x Readers/readers=4/objects=100000
		3x Readers/readers=16/objects=100000
		12x ReadersAtIntervals/readers=4/objects=100000/first
		12x ReadersAtIntervals/readers=4/objects=100000/later
		1x Join/handlers=20/objects=100000
		1x JoinLag/handlers=20/objects=100000
		1x Relist/handlers=1/objects=100000
		1x Deletes/handlers=1/objects=100000
		5x LateIndex/objects=100000
		1x Memory/objects=100000
	END
	informers="${informers#* } ${informers%% *}"
done
go run . <"$dir/results.txt" >"$dir/table.txt"
mv "$dir/results.txt" "$dir/table.txt" .
cat table.txt
