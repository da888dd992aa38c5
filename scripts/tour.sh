#!/bin/sh
# Runs every chapter, start to finish; see scripts/tour.
cd "$(dirname "$0")/.." && exec go run ./scripts/tour
