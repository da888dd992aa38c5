#!/bin/sh
# Raises client-go to its newest release in every module of go.work, and the versions
# that 08-factory/kubernetes excludes. Only go.mod and go.sum files change, and the line
# of versions on the pages of the chapters.
set -eu
case ${1-} in
"") ;;
-h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;;
*) echo "newest.sh: it takes no argument, and got: $*" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
modules=$(go list -m -f '{{.Dir}}')
echo "$modules" | while read -r module; do # a line each, whatever is in the path
	(cd "$module" && if grep -q "k8s.io/client-go " go.mod; then
		GOWORK=off go get k8s.io/client-go@latest k8s.io/api@latest k8s.io/apimachinery@latest
	fi)
done
echo "$modules" | while read -r module; do # after all of them: each tidies with the others' versions
	(cd "$module" && GOWORK=off go mod tidy)
done
version=$(go list -m -f '{{.Version}}' k8s.io/client-go)
# The module of Kubernetes keeps its own versions: it excludes those that the chapters require.
(cd 08-factory/kubernetes && sed "/^exclude (/,/^)/s/v[0-9.]*$/$version/" go.mod >go.mod.new && mv go.mod.new go.mod &&
	GOWORK=off go mod tidy)
for page in docs/[0-9][0-9]-*.md; do # line 3: *Code in …, with client-go v…, Kubernetes API v…, Go …*
	sed "3s/v[0-9][0-9.]*/$version/g" "$page" >"$page.new"
	mv "$page.new" "$page"
done
echo "k8s.io/client-go $version"
