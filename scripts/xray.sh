#!/bin/sh
# Shows an informer at work in your browser, beside client-go's, on your cluster, until Ctrl-C. It
# prints the address. -addr chooses another host and port; -h lists all flags.
# (Not with go run, which would print "exit status 1" after an error.)
cd "$(dirname "$0")/.." || exit
program=$(go tool -n xray) && exec "$program" xray -follow "$@"
