// The contract of an informer, with each set of parts.

package informer_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informertest"
	"example.com/informer/scripts/harness/must"
)

// notKept has, by part, the promises of informertest that an informer with this part does not keep.
var notKept = map[string]map[string]exception{
	"DeltaFIFO": {
		"after a new list deletes come before adds and updates": {
			"a DeltaFIFO queues what a list lacks after what it has",
			`"OnAdd a 7" "OnUpdate c 8, was 1" "OnDelete tombstone ns/b of 1"`},
		"an object that a list names twice is delivered once": {
			"a DeltaFIFO queues each object of a list",
			`"OnAdd a 1 first" "OnUpdate a 2, was 1"`},
		"a pointer that is twice in a list is delivered once": {
			"a DeltaFIFO queues each object of a list",
			`"OnAdd a 1 first" "OnUpdate a 1, was 1"`},
	},
	"client-go": {
		"the deletion of an unknown object is not delivered": {
			"client-go's informer calls OnDelete without a look into the store",
			`"OnDelete never-seen 2"`},
		"an object that a list names twice is delivered once": {
			"client-go's informer calls OnAdd for each object of the first list",
			`"OnAdd a 1 first" "OnAdd a 2 first"`},
		"a pointer that is twice in a list is delivered once": {
			"client-go's informer calls OnAdd for each object of the first list",
			`"OnAdd a 1 first" "OnAdd a 1 first"`},
		"nil indexers are no indexers": {
			"client-go's store writes into the map of the caller",
			"AddIndexers panicked with assignment to entry in nil map"},
		"the indexers of the caller stay as they are": {
			"client-go's store writes into the map of the caller",
			`has ["name" "version"] after AddIndexers`},
	},
}

// An exception is a promise that is not kept.
type exception struct {
	reason string
	got    string // is in the output of the test, which fails
}

// partsOf has the parts of each implementation that are in notKept or in notPassed.
var partsOf = map[string][]string{
	"deltafifo": {"DeltaFIFO", "Indexer", "channels"},
	"part-one":  {"RealFIFO", "Indexer", "channels"},
	"no-queue":  {"Indexer", "channels"},
	"snapshots": {"RealFIFO", "channels"},
	"journal":   {"RealFIFO", "Indexer"},
	"part-two":  nil,
	"client-go": {"client-go"},
}

// culprits has, for each part, an implementation that shows what this part does not keep.
var culprits = map[string]string{
	"DeltaFIFO": "deltafifo", "RealFIFO": "snapshots", "Indexer": "journal", "channels": "snapshots",
	"client-go": "client-go",
}

// runAll is an environment variable. If it is set, each implementation has to run all tests.
const runAll = "INFORMER_TEST_ALL"

func TestContract(t *testing.T) {
	for name, newInformer := range implementations {
		t.Run(name, func(t *testing.T) {
			informertest.Run(t, newInformer.withoutOptions, reasons(name))
		})
	}
}

// withoutOptions is a maker with the parameters of an older constructor.
func (m maker) withoutOptions(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers cache.Indexers) cache.SharedIndexInformer {
	return m(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
}

// reasons has the promises that an implementation does not keep.
func reasons(implementation string) map[string]string {
	all := map[string]string{}
	if os.Getenv(runAll) != "" {
		return all
	}
	for _, part := range partsOf[implementation] {
		for promise, e := range notKept[part] {
			all[promise] = e.reason
		}
	}
	return all
}

// A promise that is kept does not belong into the table.
func TestWhatIsNotKeptFails(t *testing.T) {
	for part, exceptions := range notKept {
		for promise, e := range exceptions {
			t.Run(part+"/"+promise, func(t *testing.T) {
				t.Parallel()
				name := strings.ReplaceAll(promise, " ", "_")
				output, err := must.RunInSubprocess(t,
					"TestContract$/^"+culprits[part]+"$/^"+regexp.QuoteMeta(name), runAll+"=yes")
				if err == nil || !strings.Contains(output, "--- FAIL: TestContract/"+culprits[part]+"/"+name) {
					t.Errorf("%s: the test ended with %v, want that it fails:\n%s", e.reason, err, output)
				}
				if !strings.Contains(output, e.got) {
					t.Errorf("the output does not contain %q:\n%s", e.got, output)
				}
			})
		}
	}
}
