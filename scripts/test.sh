#!/bin/sh
# Checks and tests everything, on the cluster at hand or on one that it makes.
set -eu
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "gofmt"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }

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
lint() { (cd scripts/lint && GOWORK=off go tool -n "$1"); }
"$(lint staticcheck)" work
"$(lint staticcheck)" -tags browser ./docs/lab/browser/...
"$(lint revive)" -config scripts/lint/revive.toml ./...

race=-race
if [ "$(go env CGO_ENABLED)" = 0 ]; then
	race=
	echo "no C compiler here, which the race detector needs: the tests run without it" >&2
fi
browser=
for name in chromium chromium-browser google-chrome google-chrome-stable; do
	if command -v "$name" && command -v npm; then browser=yes; fi >/dev/null
done
[ -n "$browser" ] || echo "no chromium, or no npm here: the tests of the X-ray page in a browser are left out" >&2

say "go test $race, and the tour"
export race browser
go run ./scripts/cluster exec sh -ec '
	go test $race -timeout 30m -count=1 work
	[ -z "$browser" ] || go test $race -timeout 20m -count=1 -tags browser ./docs/lab/browser
	(cd 08-factory/controllers && GOWORK=off go test $race -trimpath -count=1 .)
	scripts/tour.sh
'
