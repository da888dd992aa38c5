// How busy the machine is.

package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

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
