// What is known of the machine, and of what was built.

package report

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Machine says on what something was measured.
func Machine(date, cpu, clientGo string) string {
	if cpu == "" {
		cpu = "an unknown processor"
	}
	return fmt.Sprintf("%s: %s, %d cores, %s/%s, %s, client-go %s", date, cpu, runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), clientGo)
}

// CPU is what the processor calls itself, where Linux says so; else empty.
func CPU() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// ClientGo is the version that the program was built with.
func ClientGo() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/client-go" {
			return module.Version
		}
	}
	return "of an unknown version"
}
