// Command load puts our factory and client-go's under the same load, side by
// side, each in a process of its own, on a throw-away control plane. It prints
// one table, and writes it and everything that was measured to docs/lab/load.
//
//	go run ./docs/lab/load [-quick] [-table] [-o FOLDER]
package main

import "example.com/informer/docs/lab/bench/report"

// program ends well even when ours is worse, but not when something was lost.
var program = report.Program{Name: "load", Measure: measure, Table: table}

func main() {
	serveClient()
	program.Main()
}
