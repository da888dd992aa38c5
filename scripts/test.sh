#!/bin/sh
# Checks what the course promises, on the cluster at hand or on one that it makes: what each
# step prints, and the tests of each chapter. With names of parts, it checks those:
#   chapters     what runs without a name
#   lint         leftovers, formatting, each module by itself, go vet and the linters
#   tests        the tests of all modules: of the chapters, the book, its lab and the scripts
#   browser      the X-ray page and the reading room in a browser
#   kubernetes   the controllers of Kubernetes on our factory
#   tour         scripts/tour.sh
#   practice     all exercises: the book's code, the start, and a wrong answer; then -all: all wrong answers
#   all          all of these
# At the end it says where the time went.
set -eu
case ${1-} in -h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

race=-race
[ "$(go env CGO_ENABLED)" = 1 ] || race=

lint() {
	say "leftovers of editors and of git"
	leftovers=$(git ls-files -- '*.orig' '*.rej' '*.bak' '*~')
	[ -z "$leftovers" ] || { printf 'in git, but not wanted; git rm them:\n%s\n' "$leftovers" >&2; return 1; }

	say "gofmt"
	unformatted=$(find . -name .practice -prune -o -name '*.go' -print0 | xargs -0 gofmt -l)
	[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; return 1; }

	say "each module by itself: go mod tidy; it requires the versions of the workspace"
	# So no module has to be compiled with versions of its own.
	versions=$(required)
	for module in $(git ls-files --cached --others --exclude-standard "*go.mod" ":!*/testdata/*"); do
		module=$(dirname "$module")
		[ -f "$module/go.mod" ] || continue # deleted, and git does not know yet
		echo "$module"
		(cd "$module" && GOWORK=off go mod tidy -diff)
		grep -q "^	./$module$" go.work || continue
		others=$(cd "$module" && GOWORK=off required | grep -vxF "$versions") || continue
		echo "$module/go.mod requires other versions than the workspace has:" >&2
		echo "$others" >&2
		return 1
	done

	# With the flags of the tests, so that packages are compiled once for both.
	say "go vet $race"
	GOFLAGS=$race go vet work
	GOFLAGS=$race go vet -tags browser ./docs/lab/browser/...
	# What a system decides: processes and signals. On macOS, the workflow tests the rest.
	GOOS=darwin go vet ./scripts/cluster/... ./scripts/harness/step/play ./scripts/harness/practice

	say "staticcheck, errcheck, revive"
	linter() { (cd scripts/lint && GOWORK=off go tool -n "$1"); }
	staticcheck=$(linter staticcheck)
	GOFLAGS=$race "$staticcheck" work
	GOFLAGS=$race "$staticcheck" -tags browser ./docs/lab/browser/...
	# Without what has no remedy: a line that cannot be printed, what is closed or removed at the end.
	GOFLAGS=$race "$(linter errcheck)" -ignoretests -exclude scripts/lint/errcheck.txt work
	"$(linter revive)" -config scripts/lint/revive.toml ./...
}

# required lists the modules that a module, or the workspace, requires by itself.
required() {
	go list -m -f '{{if not (or .Main .Indirect)}}{{.Path}} {{.Version}}{{end}}' all |
		grep -v '^example.com/informer/'
}

# Without the bugs that are planted in a controller, which take minutes. Tests on a cluster wait most of
# the time, so two packages share a processor.
chapters() {
	gotest -p $((2 * $(getconf _NPROCESSORS_ONLN))) -skip '^TestPlantedBugs$' $(printf './%s/... ' 0*)
}

tests() { gotest work; }

# gotest tests packages, and keeps what it prints for the report.
gotest() {
	say "go test $race $*"
	[ -n "$race" ] || echo "no C compiler here, which the race detector needs: the tests run without it" >&2
	{ go test $race -timeout 30m -count=1 "$@" || echo "FAILED"; } | tee "$TEST_REPORT/tests"
	! grep -q '^FAILED$' "$TEST_REPORT/tests"
}

browser() {
	chromium=
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		if command -v "$name" >/dev/null && command -v npm >/dev/null; then chromium=$name; fi
	done
	if [ -z "$chromium" ]; then
		echo "no chromium, or no npm here: the tests of the X-ray page and of the reading room are left out" >&2
		return
	fi
	say "go test $race -tags browser"
	go test $race -timeout 20m -count=1 -tags browser ./docs/lab/browser
}

kubernetes() {
	say "go test $race: the controllers of Kubernetes"
	(cd 08-factory/kubernetes && GOWORK=off go test $race -count=1 .)
}

tour() {
	say "scripts/tour.sh"
	scripts/tour.sh
}

practice() {
	say "go test: all exercises $answers"
	go test -timeout 120m -count=1 ./scripts/harness/practice -run '^TestExercises$' -all $answers
}

timed() {
	start=$(date +%s)
	"$1"
	printf '%5d s  %s\n' $(($(date +%s) - start)) "$1" >>"$TEST_REPORT/times"
}

answers=
for part in "$@"; do # practice -all
	[ "$part" != -all ] || answers=-answers
done
[ $# -gt 0 ] || set -- chapters
[ "$*" != all ] || set -- lint tests browser kubernetes tour practice
for part in "$@"; do
	case $part in
	chapters | lint | tests | browser | kubernetes | tour | practice) ;;
	-all) [ $# -gt 1 ] || { echo "test.sh: -all goes with practice" >&2; exit 2; } ;;
	*) echo "test.sh: no part is called $part; -h lists them" >&2; exit 2 ;;
	esac
done
if [ -n "${TEST_REPORT-}" ]; then # on a cluster already: see below
	for part in "$@"; do [ "$part" = -all ] || timed "$part"; done
	exit
fi

TEST_REPORT=$(mktemp -d)
export TEST_REPORT
trap 'rm -rf "$TEST_REPORT"' EXIT
if [ "$1" = lint ]; then # it needs no cluster
	timed lint
	shift
fi
[ $# = 0 ] || go run ./scripts/cluster exec scripts/test.sh "$@"

say "where the time went"
cat "$TEST_REPORT/times"
[ ! -f "$TEST_REPORT/tests" ] || # the slowest packages
	awk '$1 == "ok" { printf "%9d s  %s\n", $3, $2 }' "$TEST_REPORT/tests" | sort -rn | head -n 5
