#!/bin/sh
# Exercises on the course's own code: write a part of the informer, or mend what is broken.
# (Not with go run, which would print "exit status 1" below each check that fails.)
cd "$(dirname "$0")/.." && program=$(go tool -n practice) && exec "$program" "$@"
