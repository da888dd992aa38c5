// Package informertest checks that an informer keeps the contract of cache.SharedIndexInformer, as
// fstest does for a file system and nettest for a connection:
//
//	func TestContract(t *testing.T) { informertest.Run(t, cache.NewSharedIndexInformer, nil) }
//
// It needs nothing but client-go, and of client-go only what version 0.30 had.
package informertest

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// New makes an informer. The parameters are those of cache.NewSharedIndexInformer.
type New func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers cache.Indexers) cache.SharedIndexInformer

// Run checks each promise in a subtest, in fake time. notKept has the promises that these informers
// do not keep, with the reason: Run skips them.
func Run(t *testing.T, newInformer New, notKept map[string]string) {
	known := map[string]bool{}
	for _, promise := range promises {
		known[promise.name] = true
		t.Run(promise.name, func(t *testing.T) {
			if reason := notKept[promise.name]; reason != "" {
				t.Skip("not kept:", reason)
			}
			synctest.Test(t, func(t *testing.T) { promise.check(t, newInformer) })
		})
	}
	for name := range notKept {
		if !known[name] {
			t.Errorf("there is no promise %q", name)
		}
	}
}
