// The flags of this chapter.

package main

import (
	"flag"

	"example.com/informer/scripts/harness/web"
)

// The values of the flags.
var (
	addr    string // the host and port on which the step http listens
	secrets bool   // whether steps cache and show Secrets
)

func addFlags(flags *flag.FlagSet) {
	flags.StringVar(&addr, "addr", "",
		"the host and port for the step http (default: a free port; with -follow "+web.DefaultAddr+")")
	flags.BoolVar(&secrets, "secrets", false, "cache and show Secrets too, in the steps http and everything")
}
