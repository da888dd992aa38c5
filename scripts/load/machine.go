// What is known of the machine.

package main

import (
	"bufio"
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// cpuName is what the processor calls itself, where Linux says so; else empty.
func cpuName() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// clientGo is the version that was built in.
func clientGo() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/client-go" {
			return module.Version
		}
	}
	return "of an unknown version"
}

// cores is how much time all cores have had so far, and were idle.
type cores struct{ all, idle float64 }

// coresUsed is zero where Linux does not say it.
func coresUsed() (c cores) {
	stat, _ := os.ReadFile("/proc/stat")
	lines := bufio.NewScanner(bytes.NewReader(stat))
	lines.Scan()
	for i, field := range strings.Fields(lines.Text()) { // cpu user nice system idle iowait irq softirq steal …
		ticks, _ := strconv.ParseFloat(field, 64)
		if i > 8 { // what guests had was counted before
			break
		}
		c.all += ticks
		if i == 4 || i == 5 {
			c.idle += ticks
		}
	}
	return c
}

// since is how much of all cores was in use; less than 0 if that is unknown.
func (c cores) since(before cores) float64 {
	if c.all == before.all {
		return -1
	}
	return 1 - (c.idle-before.idle)/(c.all-before.all)
}
