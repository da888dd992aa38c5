// Who dies with whom, on Linux.

package main

import "syscall"

// dieWithParent has the kernel kill a process when this one ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
