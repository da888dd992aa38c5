// The contract tests that package classic does not pass.

package informer

import (
	"os"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// notInClassic has the tests that the informer of package classic does not pass, and why. client-go
// has another queue today, a RealFIFO, and our informer has none. The queue of classic is a
// DeltaFIFO.
var notInClassic = map[string]string{
	"TestTheStoreIsKeptWhileListsFail": deletesComeLast,
	"TestEverythingIsTransformed":      deletesComeLast,
	"TestLastSyncResourceVersion":      "a DeltaFIFO drops bookmarks, and deletes of unknown objects",
}

const deletesComeLast = "order between objects: a DeltaFIFO queues what a list has, and then what it lacks"

// runAll is an environment variable. If it is set, classic has to run all contract tests.
const runAll = "INFORMER_TEST_ALL_IN_CLASSIC"

func isInClassic(t *testing.T) bool {
	test, _, _ := strings.Cut(t.Name(), "/")
	return notInClassic[test] == "" || os.Getenv(runAll) != ""
}

// A test that classic passes does not belong into the table.
func TestClassicFailsWhatItDoesNotRun(t *testing.T) {
	for test, reason := range notInClassic {
		output, err := must.RunInSubprocess(t, test+"$/^classic", runAll+"=yes")
		if want := "--- FAIL: " + test + "/classic"; err == nil || !strings.Contains(output, want) {
			t.Errorf("%s (%s): the test ended with %v, want the line %q:\n%s", test, reason, err, want, output)
		}
	}
}
