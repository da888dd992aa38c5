//go:build !linux

// Who dies with whom, elsewhere.

package main

import "syscall"

// dieWithParent does nothing: only Linux has such a thing.
func dieWithParent(*syscall.SysProcAttr) {}
