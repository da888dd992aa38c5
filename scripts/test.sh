#!/bin/sh
# Checks and tests everything, on the cluster at hand or on one that it makes, and says where
# the time went. With names of parts (lint, tests, browser, controllers, tour, practice) only
# those. `practice` goes through all exercises; a run without names leaves it out.
set -eu
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

race=-race
[ "$(go env CGO_ENABLED)" = 1 ] || race=

lint() {
	say "gofmt"
	unformatted=$(gofmt -l .)
	[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; return 1; }

	say "each module by itself: go mod tidy, go build"
	for module in $(git ls-files --cached --others --exclude-standard "*go.mod" ":!*/testdata/*"); do
		module=$(dirname "$module")
		[ -f "$module/go.mod" ] || continue # deleted, and git does not know yet
		echo "$module"
		flags=
		case $module in
		08-factory/controllers) flags=-trimpath ;; # as it is built for use: once is enough
		esac
		(cd "$module" && GOWORK=off go mod tidy -diff && GOWORK=off go build $flags -o /dev/null ./...)
	done

	say "go vet"
	go vet work
	GOOS=darwin go vet work
	go vet -tags browser ./docs/lab/browser/...

	say "staticcheck, revive"
	linter() { (cd scripts/lint && GOWORK=off go tool -n "$1"); }
	"$(linter staticcheck)" work
	"$(linter staticcheck)" -tags browser ./docs/lab/browser/...
	"$(linter revive)" -config scripts/lint/revive.toml ./...
}

tests() {
	say "go test $race work"
	[ -n "$race" ] || echo "no C compiler here, which the race detector needs: the tests run without it" >&2
	{ go test $race -timeout 30m -count=1 work || echo "FAILED"; } | tee "$TEST_REPORT/tests"
	! grep -q '^FAILED$' "$TEST_REPORT/tests"
}

browser() {
	chromium=
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		if command -v "$name" >/dev/null && command -v npm >/dev/null; then chromium=$name; fi
	done
	if [ -z "$chromium" ]; then
		echo "no chromium, or no npm here: the tests of the X-ray page in a browser are left out" >&2
		return
	fi
	say "go test $race -tags browser"
	go test $race -timeout 20m -count=1 -tags browser ./docs/lab/browser
}

controllers() {
	say "go test $race: the controllers of Kubernetes"
	(cd 08-factory/controllers && GOWORK=off go test $race -trimpath -count=1 .)
}

tour() {
	say "scripts/tour.sh"
	scripts/tour.sh
}

practice() {
	say "go test: all exercises"
	go test -timeout 30m -count=1 ./scripts/harness/practice -run TestExercises -all
}

timed() {
	start=$(date +%s)
	"$1"
	printf '%5d s  %s\n' $(($(date +%s) - start)) "$1" >>"$TEST_REPORT/times"
}

for part in "$@"; do
	case $part in
	lint|tests|browser|controllers|tour|practice) ;;
	*) echo "test.sh: no part is called $part; there are lint, tests, browser, controllers, tour, practice" >&2; exit 2 ;;
	esac
done
open=$(git for-each-ref --format="%(refname:lstrip=3)" refs/practice/open 2>/dev/null || true)
if [ -n "$open" ]; then
	echo "test.sh: exercises are open:" $open >&2
	echo "Solve them (scripts/practice.sh check), or put the book's code back (scripts/practice.sh reset NAME)." >&2
	exit 1
fi
if [ -n "${TEST_REPORT-}" ]; then # on a cluster already: see below
	for part in "$@"; do timed "$part"; done
	exit
fi

TEST_REPORT=$(mktemp -d)
export TEST_REPORT
trap 'rm -rf "$TEST_REPORT"' EXIT
case $* in
"") timed lint; set -- tests browser controllers tour ;;
lint) timed lint; set -- ;;
esac
[ $# = 0 ] || go run ./scripts/cluster exec scripts/test.sh "$@"

say "where the time went"
cat "$TEST_REPORT/times"
[ ! -f "$TEST_REPORT/tests" ] || # the slowest packages
	awk '$1 == "ok" { printf "%9d s  %s\n", $3, $2 }' "$TEST_REPORT/tests" | sort -rn | head -n 5
