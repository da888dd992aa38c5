#!/bin/sh
# Removes what steps that were killed have left behind on the cluster that the chapters use: their
# namespaces, and their definitions of custom resources with all objects of these types. What belongs
# to a step that may still run stays, except with -all. Like a chapter, it takes -kubeconfig FILE and
# -context NAME.
set -eu
all= context=
while [ $# -gt 0 ]; do
	case $1 in
	-h | -help | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;;
	-all | --all) all=yes ;;
	-context | --context) context=${2?it wants a NAME}; shift ;;
	-kubeconfig | --kubeconfig) KUBECONFIG=$(realpath "${2?it wants a FILE}"); shift ;;
	*) echo "clean.sh: it does not know $1" >&2; exit 2 ;;
	esac
	shift
done
cd "$(dirname "$0")/.."
case $(pwd) in */.practice/*) cd ../.. ;; esac # the folder of an exercise: the clone has the cluster
PATH=$(pwd)/.cluster/bin:$PATH
export KUBECONFIG="${KUBECONFIG:-$(pwd)/.cluster/kubeconfig}" # never ~/.kube/config by accident
if [ ! -e "${KUBECONFIG%%:*}" ]; then
	echo "clean.sh: there is no $KUBECONFIG: start a cluster with scripts/kind-up.sh, or without Docker" \
		"with scripts/local-up.sh, or name yours with -kubeconfig FILE" >&2
	exit 1
fi
selector=example.com/made-by=${COURSE:-informer-course} # a test has a label of its own

on_cluster() { kubectl --context="$context" "$@"; }

# may_run tells whether the process HOST/PID may still run. Of another machine it cannot know.
may_run() {
	[ "${1%/*}" != "$(uname -n)" ] || kill -0 "${1##*/}" 2>/dev/null || ps -p "${1##*/}" >/dev/null
}

found=$(on_cluster get namespaces -l "$selector" \
	-o 'jsonpath={range .items[*]}{.metadata.name}={.metadata.annotations.example\.com/process}{"\n"}{end}')
definitions=$(on_cluster get customresourcedefinitions -l "$selector" -o 'jsonpath={.items[*].metadata.name}')
left= kept=
for line in $found; do
	namespace=${line%%=*} process=${line#*=}
	if [ -z "$all" ] && may_run "$process"; then
		echo "keeping namespace $namespace: process $process may still run; -all removes it"
		kept=yes
	else
		left="$left namespace/$namespace"
	fi
done
if [ -z "$kept" ]; then
	for name in $definitions; do left="$left customresourcedefinition/$name"; done
elif [ -n "$definitions" ]; then
	echo "keeping the definitions, which that step may use: $definitions"
fi
[ -n "$left" ] || { echo "there is nothing to remove"; exit; }

# remove_finalizers removes those of objects that are being deleted: their controller is gone, too.
# They are the objects of the steps' types, in what is removed.
remove_finalizers() {
	for type in $definitions; do
		on_cluster get "$type" --all-namespaces --ignore-not-found \
			-o 'jsonpath={range .items[?(@.metadata.deletionTimestamp)]}{.metadata.namespace} {.metadata.name}{"\n"}{end}' |
			while read -r namespace name; do
				case "$left " in *" namespace/$namespace "* | *" customresourcedefinition/$type "*)
					on_cluster patch "$type" "$name" -n "$namespace" --type=merge -p '{"metadata":{"finalizers":null}}' ;;
				esac
			done
	done
}

# shellcheck disable=SC2086 # $left is many words
on_cluster delete --wait=false --ignore-not-found $left
for _ in $(seq 60); do # two minutes: a pod on a real node may take half a minute to end
	remove_finalizers >/dev/null 2>&1 || true # a definition, or an object, may be gone by now
	# shellcheck disable=SC2086
	if last=$(on_cluster wait --for=delete --timeout=2s $left 2>&1); then exit; fi
done
echo "clean.sh: not everything is gone: run this again, or see what kubectl describe says: $last" >&2
exit 1
