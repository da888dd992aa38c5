package main

import (
	"testing"

	"example.com/informer/scripts/bench/tool/tooltest"
)

func TestWrongUsage(t *testing.T) {
	tooltest.Refuse(t, program, "-only unicorn: no fault is called so", "-only", "unicorn")
	tooltest.Refuse(t, program, "-only: error parsing regexp", "-only", "[")
	tooltest.Refuse(t, program, "-rate: there must be changes", "-rate", "0")
}

func TestAStoppedSoakLeavesNothing(t *testing.T) { tooltest.Stop(t, program, "starting etcd") }
