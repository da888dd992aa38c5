// The flags of this chapter.

package main

import (
	"flag"

	"example.com/informer/07-shared-informer/web"
)

// addr is the value of the flag -addr: the host and port for the steps http and xray.
var addr string

func addFlags(flags *flag.FlagSet) {
	flags.StringVar(&addr, "addr", "",
		"the host and port for the steps http and xray (default: a free port; with -follow "+web.DefaultAddr+")")
}
