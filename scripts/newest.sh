#!/bin/sh
# Raises client-go to its newest release in every module of go.work. Only go.mod
# and go.sum files change.
set -eu
cd "$(dirname "$0")/.."
modules=$(go list -m -f '{{.Dir}}')
for module in $modules; do
	cd "$module"
	if grep -q "k8s.io/client-go " go.mod; then
		GOWORK=off go get k8s.io/client-go@latest k8s.io/api@latest k8s.io/apimachinery@latest
	fi
done
for module in $modules; do # after all of them: each tidies with the others' versions
	cd "$module" && GOWORK=off go mod tidy
done
go list -m k8s.io/client-go
