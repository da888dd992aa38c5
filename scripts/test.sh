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
	scripts/controlplane | 08-factory/controllers) flags=-trimpath ;; # as they are built for use: once is enough
	esac
	(cd "$module" && GOWORK=off go mod tidy -diff && GOWORK=off go build $flags -o /dev/null ./...)
done

say "go vet"
go vet work

say "staticcheck, revive"
lint() { (cd scripts/lint && GOWORK=off go tool -n "$1"); }
"$(lint staticcheck)" work
"$(lint revive)" -config scripts/lint/revive.toml ./...

race=-race
if [ "$(go env CGO_ENABLED)" = 0 ]; then
	race=
	echo "no C compiler here, which the race detector needs: the tests run without it" >&2
fi
say "go test $race, and the tour"
export race
go run ./scripts/cluster exec sh -ec '
	go test $race -timeout 30m -count=1 work
	(cd scripts/controlplane && GOWORK=off go test $race -trimpath -count=1 ./node)
	(cd 08-factory/controllers && GOWORK=off go test $race -trimpath -count=1 .)
	scripts/tour.sh
'
