// The real check: the pages of this workspace match its code.

package main

import (
	"os"
	"testing"

	"example.com/informer/docs/book"
)

// TestBook fails with one line for each stale block, dead link, claim without
// a test, or page out of shape.
//
// The root is spelled as this folder plus "/..", uncleaned, on purpose: `go
// test` caches a result until a file below the module changes, and it decides
// by the name a file was opened under. Spelled so, a change in a chapter counts.
func TestBook(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	b, err := book.Load(os.DirFS(here + "/.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range b.Problems() {
		t.Error(problem)
	}
}
