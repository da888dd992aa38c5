// The flags of this program.

package main

import "flag"

// addr is the value of the flag -addr: the host and port for the steps leader and metrics.
var addr string

func addFlags(flags *flag.FlagSet) {
	flags.StringVar(&addr, "addr", "127.0.0.1:0",
		"the host and port that the steps leader and metrics listen on; port 0 is any free one")
}
