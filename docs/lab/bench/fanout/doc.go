// Package fanout holds the benchmarks that put our shared informer next to
// client-go's: ordinary Go benchmarks, with the informer as the last part of
// their names, so that benchstat can compare them:
//
//	go test -run '^$' -bench Events -benchtime 20000x -count 5 . | benchstat -col /informer -
//
// Both informers get the same objects from the same source, and the same
// handlers. client-go runs with its feature gates as they are by default.
package fanout
