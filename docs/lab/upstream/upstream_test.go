// Package upstream runs client-go's own tests on our reflector, our stores and our informer. It
// reads these tests from the module cache: they are not in this repository.
package upstream

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/informer/docs/lab/upstream/adapter"
	"example.com/informer/scripts/harness/must"
)

// ours maps names of client-go to the names of package adapter that replace them. A function of
// client-go's tests with such a name is removed.
var ours = map[string]string{
	"NewFIFO":                      "NewFIFO",
	"Pop":                          "Pop",
	"NewReflector":                 "NewReflector",
	"NewReflectorWithOptions":      "NewReflectorWithOptions",
	"handleWatch":                  "HandleWatch",
	"handleListWatch":              "HandleListWatch",
	"errorStopRequested":           "ErrorStopRequested",
	"isUnsupportedTableObject":     "IsUnsupportedTableObject",
	"getTypeDescriptionFromObject": "GetTypeDescriptionFromObject",

	"toListWatcherWithUnSupportedWatchListSemantics": "WithoutWatchList",

	"NewStore":           "NewStore",
	"NewIndexer":         "NewIndexer",
	"NewThreadSafeStore": "NewThreadSafeStore",
	"threadSafeMap":      "ThreadSafeStore",

	"NewSharedInformer":      "NewSharedInformer",
	"sharedIndexInformer":    "Informer",
	"sharedProcessorRunHook": "RunHook",
	"eventHandlerCount":      "EventHandlerCount",
	"isRegistered":           "IsRegistered",
	"isStarted":              "IsStarted",
}

// sources are the files to turn. The first two have no tests, but helpers for the other files.
var sources = []source{
	{file: "main_test.go"},
	{file: "util_test.go"},
	{file: "store_test.go", ofStores: true, leftOut: map[string]string{
		"TestCacheWithTransformer": "our stores have no transform: the informer calls it before it stores anything",
		"TestCacheTransactionShouldIndexErrors": "our stores have no Transaction: with snapshots, nobody holds up a " +
			"write, so nothing is gained by many of them at once",
		"TestWithStoreMetricsDefaulting": "looks whether a private field is set",
		"TestFIFOCache":                  "is about client-go's FIFO",
		"TestUndeltaStore":               "is about client-go's UndeltaStore",
		"TestKeyError":                   "is about client-go's KeyError, which our stores return",
	}},
	{file: "index_test.go", ofStores: true},
	{file: "thread_safe_store_test.go", ofStores: true, edits: []edit{
		{"store.index.indices", "store.Indices()"},
	}},
	{file: "shared_informer_test.go", leftOut: map[string]string{
		"TestResyncCheckPeriod": "reads resync periods from private fields; " +
			"TestResyncPeriods in 07-shared-informer/informer waits for the resyncs",
	}, edits: []edit{
		{"testingclock.NewFakeClock(time.Now())", "ours.RealTime{}"},
		{"informer.clock = clock", ""},
		{"informer.processor.clock = clock", ""},
		{"listener.receivedItemNames = []string{}", "listener.reset()"}, // without a fake clock, this needs the lock
		inBubble("TestSharedInformerWatchDisruption"),

		// On a busy machine, these waits take longer. A deadline only has to end a hang.
		{"100*time.Millisecond, 2*time.Second,", "100*time.Millisecond, time.Minute,"},
		{"time.Second*3, time.Millisecond)", "time.Minute, time.Millisecond)"},
		{"time.After(time.Second)", "time.After(time.Minute)"},
		{"time.After(10 * time.Second)", "time.After(time.Minute)"},
		{"30*time.Second, time.Millisecond", "time.Minute, time.Millisecond"},
		{"context.WithTimeout(context.Background(), 2*time.Second)",
			"context.WithTimeout(context.Background(), time.Minute)"},
		{"fmt.Println(\"sleeping\")\n\ttime.Sleep(1 * time.Second)",
			"for end := time.Now().Add(time.Minute); !informer.IsStopped() && time.Now().Before(end); {\n" +
				"\t\ttime.Sleep(time.Millisecond) }"},
	}},
	{file: "reflector_test.go", leftOut: map[string]string{
		"TestReflectorResyncChan":          "calls the function that makes a timer; TestReflectorResync runs",
		"BenchmarkReflectorResyncChanMany": "as above",
		"TestReflectorHandleWatchStoppedBefore": "our reflector opens no watch when its context has ended, " +
			"so there is none to stop; TestReflectorWatchStoppedBefore runs",
		"TestReflectorListAndWatchInitConnBackoff": "sets a clock, which our reflector does not take; " +
			"TestPausesGrow in 03-reflector/reflector measures the pauses in fake time",
		"TestRetryInternalError": "our reflector lists again after an internal error of a watch, as client-go's does " +
			"by default: it has no MaxInternalErrorRetryDuration",
		"TestGetExpectedGVKFromObject": "reads a private field; TestWhatIsOfAnotherTypeIsLeftOut in " +
			"03-reflector/reflector sends objects of other kinds",
	}, edits: []edit{
		{"&Reflector{", "&ours.Reflector{"},
		{`name:              "test-reflector",`, ""},
		{"listerWatcher:     lw,", "ListerWatcher: lw,"},
		{"store:             New", "Store: New"},
		{"delayHandler:      fd.delayFunc,", "Delay: fd.delayFunc,"},
		{"clock:             clock,", ""},
		{"clock := &clock.RealClock{}", ""},
		{"watchErrorHandler: WatchErrorHandlerWithContext(DefaultWatchErrorHandler),", ""},
		{"watchCalls < 5", "watchCalls < 3"}, // before each call there is a pause, and each pause is longer
		{"watchCalls != 5", "watchCalls != 3"},

		{"r.listerWatcher = ", "r.ListerWatcher = "},
		{"target.watch(ctx, nil, nil)", "target.ListAndWatchWithContext(ctx)"},
		{"time.Now(), fw, s, g.expectedType, g.expectedGVK, g.name, g.typeDescription,", "g, fw, s,"},
		{", g.clock, nevererrc)", ")"},
		{"g.setLastSyncResourceVersion(rv)", ""}, // our reflector has already set it
		{"g.name", `"*v1.Pod"`},
		{"r.setLastSyncResourceVersion(", "r.SetLastSyncResourceVersion("},
		{"defaultExpectedTypeName", `"<unspecified>"`},

		// Deadlines for a busy machine, as above.
		{"expUpperBound: 10 * time.Second", "expUpperBound: time.Minute"},
		{"expUpperBound: 300 * time.Millisecond", "expUpperBound: time.Minute"},
		{"100*time.Millisecond, 5*time.Second, true", "100*time.Millisecond, time.Minute, true"},
		{"wait.ForeverTestTimeout", "time.Minute"},
		inBubble("TestReflectorHandleWatchResultChanClosedBefore"), // a watch of less than a second
		inBubble("TestReflectorHandleWatchResultChanClosedAfter"),

		{"reflector.list(ctx)", "reflector.List(ctx)"},
		{"store.getItems()", "ours.Items(store)"},
		{"store.keyFunc(", "MetaNamespaceKeyFunc("},
		{"rs.(*DeltaFIFO).list()", "ours.Objects(rs.(*DeltaFIFO))"},
	}},
	{file: "reflector_watchlist_test.go", leftOut: map[string]string{
		"TestInitialEventsEndBookmarkTicker": "calls functions that ours lacks; our warning has a test",
	}, edits: []edit{
		{"*Reflector,", "*ours.Reflector,"},
		{"r.useWatchList", "r.UseWatchList()"},
		{"time.Now(), lw, s, r.expectedType, r.expectedGVK, r.name, r.typeDescription, trackRV, r.clock, nevererrc",
			"r, lw, s, trackRV"},
	}},
}

func TestClientGosTestsPassOnOurParts(t *testing.T) {
	cacheDir := strings.TrimSpace(run(t, "go", "list", "-f", "{{.Dir}}", "k8s.io/client-go/tools/cache"))
	files, tests := map[string]string{}, map[string][]string{}
	var all strings.Builder
	for _, s := range sources {
		text, err := os.ReadFile(filepath.Join(cacheDir, s.file))
		must.NoError(t, err)
		all.Write(text)
		files[s.file], tests[s.file], err = turn(string(text), s)
		must.NoError(t, err)
	}
	for name := range ours {
		if !strings.Contains(all.String(), name) {
			t.Errorf("no test uses %s any more: take it off the list", name)
		}
	}
	binary := compile(t, files)
	for _, s := range sources {
		t.Run(s.file, func(t *testing.T) {
			t.Parallel()
			names := tests[s.file]
			if len(names) == 0 {
				return // a file with helpers
			}
			for _, environment := range s.environments() {
				output := run(t, "env", environment, binary, "-test.v", "-test.timeout=10m",
					"-test.run=^("+strings.Join(names, "|")+")$")
				for _, name := range names {
					if !strings.Contains(output, "--- PASS: "+name+" ") {
						t.Errorf("%s: %s has not passed: it did not run, or it skipped itself", environment, name)
					}
				}
				t.Logf("%s: %d tests pass, %d left out (%s)", s.file, len(names), len(s.leftOut), environment)
			}
		})
	}
}

// environments returns the settings with which the tests of a source run: with each of our two
// stores, or once.
func (s source) environments() []string {
	snapshots, plain := adapter.PlainStore+"=", adapter.PlainStore+"=yes"
	if s.ofStores {
		return []string{snapshots, plain}
	}
	return []string{snapshots}
}

// compile returns the path of the test binary of package adapter with these files. An overlay tells
// the compiler where the files are, so that nothing is written into the folder of the package.
func compile(t *testing.T, files map[string]string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) (path string) {
		path = filepath.Join(dir, name)
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	replace := map[string]string{}
	for name, text := range files {
		place, err := filepath.Abs(filepath.Join("adapter", name))
		must.NoError(t, err)
		replace[place] = write(name, text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must.NoError(t, err)
	binary = filepath.Join(dir, "adapter.test")
	args := []string{"test", "-c", "-overlay", write("overlay.json", string(overlay)), "-o", binary}
	if strings.TrimSpace(run(t, "go", "env", "CGO_ENABLED")) == "1" { // the race detector needs it
		args = append(args, "-race")
	}
	run(t, "go", append(args, "./adapter")...)
	return binary
}

var failure = regexp.MustCompile(`(?m)^ *--- FAIL: .*`)

// run runs a command, and returns its output. If the command fails, the test ends. Its message
// begins with the names of the tests that have failed.
func run(t *testing.T, command string, args ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", filepath.Base(command), err, failure.FindAll(output, -1), output)
	}
	return string(output)
}
