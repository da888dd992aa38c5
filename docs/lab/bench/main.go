// Command bench measures our shared informer next to client-go's: it runs the
// benchmarks of the package fanout in rounds, prints one table, and writes it
// and everything that was measured to docs/lab/bench. To see all of that:
//
//	benchstat -col /informer docs/lab/bench/results.txt
//
// Usage:
//
//	go run ./docs/lab/bench [-quick] [-table] [-o FOLDER]
package main

import "example.com/informer/docs/lab/bench/report"

// program ends well even when a figure is not reached.
var program = report.Program{Name: "bench", Measure: measure, Table: table}

func main() { program.Main() }
