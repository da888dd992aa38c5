// The soak: faults at random, at full size, and the table of their results.

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/informer/docs/lab/report"
	"example.com/informer/scripts/harness/must"
)

// soak runs faults until the time is up. Then it logs the table of the results, or writes it into
// soak.txt.
func soak(t *testing.T) {
	machine, err := report.Machine()
	must.NoError(t, err)
	t.Logf("seed %d", *seed)
	r := newRunner(t, scale{deletes: 50_000})
	begin := time.Now()
	runs := r.runAtRandom(t, begin)
	if len(runs) == 0 {
		t.Fatal("no fault was run: does -run exclude them all?")
	}
	text := machine + r.head(time.Since(begin)) + "\n" + table(runs)
	t.Logf("\n%s", text)
	if *update {
		must.NoError(t, os.WriteFile("soak.txt", []byte(text), 0o644))
	}
}

// runAtRandom runs all faults in a random order, and again in another random order, until the time is
// up. Sometimes it skips a slow fault, so that no fault takes more than twice its share of the
// time. It returns the results by the name of the fault.
func (r *runner) runAtRandom(t *testing.T, begin time.Time) map[string][]results {
	random := rand.New(rand.NewPCG(*seed, 0))
	runs, spent := map[string][]results{}, map[string]time.Duration{}
	for {
		for _, n := range random.Perm(len(faults)) {
			f, started := faults[n], time.Now()
			total := started.Sub(begin)
			if total > *soakTime {
				return runs
			}
			if spent[f.name]*time.Duration(len(runs)) > 2*total {
				continue
			}
			r.scale.hold = time.Second + time.Duration(random.Int64N(int64(9*time.Second))) // one to ten seconds
			all, ok := r.test(t, f)
			if !ok {
				return runs // the other faults would fail, too
			}
			if all != nil {
				runs[f.name] = append(runs[f.name], all)
				spent[f.name] += time.Since(started)
			}
		}
		if len(runs) == 0 {
			return nil // -run excludes every fault
		}
	}
}

// head returns the text above the table. It says how the faults were run, and what the columns
// mean.
func (r *runner) head(took time.Duration) string {
	return fmt.Sprintf(`
%.0f minutes of faults at random, seed %d, amid %.0f changes a second (%d tried) to ConfigMaps and pods in 3 namespaces
both at the same time, each with ten handlers for ConfigMaps and ten for pods; client-go / ours
events: calls of these handlers; errors: what the checker found, be it lost or wrong in another way
recovery: seconds from the end of the fault until the cache has what the server has
first: how often each one recovered first; within a tenth of a second neither did
heap in use after each fault: %s to %s
`, took.Minutes(), *seed, float64(r.load.confirmed.Load())/r.load.worked.Seconds(), rate,
		report.Value(float64(r.minHeap), "B"), report.Value(float64(r.maxHeap), "B"))
}

// table returns a table with a line for each fault that was run.
func table(runs map[string][]results) string {
	lines := [][]string{{"fault", "runs", "events", "errors", "recovery, median", "worst", "first"}}
	for _, f := range faults {
		faultRuns := runs[f.name]
		if len(faultRuns) == 0 {
			continue
		}
		line := []string{f.name, strconv.Itoa(len(faultRuns))}
		theirs := cells(faultRuns, clientGo, ours)
		for i, cell := range cells(faultRuns, ours, clientGo) {
			line = append(line, theirs[i]+" / "+cell)
		}
		lines = append(lines, line)
	}
	return report.Align(lines)
}

// cells returns the values of one implementation for the columns after the second.
func cells(runs []results, implementation, other string) []string {
	const tie = 100 * time.Millisecond
	var events, errs, first int
	var recoveries []time.Duration
	for _, run := range runs {
		r := run[implementation]
		events += r.events
		errs += r.errors
		recoveries = append(recoveries, r.recovery)
		if r.recovery < run[other].recovery-tie {
			first++
		}
	}
	slices.Sort(recoveries)
	return []string{
		report.Count(events), report.Count(errs),
		seconds(recoveries[(len(recoveries)-1)/2]), seconds(recoveries[len(recoveries)-1]), strconv.Itoa(first),
	}
}

// seconds returns a time of recovery in seconds.
func seconds(recovery time.Duration) string {
	if recovery == never {
		return "never"
	}
	return fmt.Sprintf("%.2f", recovery.Seconds())
}

func TestTable(t *testing.T) {
	first, second := faults[0].name, faults[2].name // and no runs of faults[1]
	run := func(theirErrors int, theirRecovery, ourRecovery time.Duration) results {
		return results{
			clientGo: {events: 900, errors: theirErrors, recovery: theirRecovery},
			ours:     {events: 1000, recovery: ourRecovery},
		}
	}
	got := table(map[string][]results{
		second: {
			run(2, 10*time.Millisecond, 10*time.Millisecond),
			run(2, never, 2*time.Second),
			run(2, time.Second, 2*time.Second),
		},
		first: {
			run(0, time.Second, 30*time.Millisecond),
			run(0, 3*time.Second, 10*time.Millisecond),
			run(0, 2*time.Second, 2010*time.Millisecond),
		},
	})
	want := `fault                       runs  events         errors  recovery, median  worst         first
kill -9 of the API server   3     2,700 / 3,000  0 / 0   2.00 / 0.03       3.00 / 2.01   0 / 2
API server and etcd frozen  3     2,700 / 3,000  6 / 0   1.00 / 2.00       never / 2.00  1 / 1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table() differs (-want +got):\n%s", diff)
	}
}
