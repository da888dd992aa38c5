// The flags of this chapter.

package main

import (
	"flag"

	"example.com/informer/scripts/harness/web"
)

// addr is the value of the flag -addr: the host and port for the step http.
var addr string

func addFlags(flags *flag.FlagSet) {
	flags.StringVar(&addr, "addr", "",
		"the host and port for the step http (default: a free port; with -follow "+web.DefaultAddr+")")
}
