// The switches of client-go, and the metrics that it has.

package fieldguide

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A registry takes all gates that client-go has.
type registry map[features.Feature]features.FeatureSpec

// Add implements features.Registry.
func (r registry) Add(gates map[features.Feature]features.FeatureSpec) error {
	maps.Copy(r, gates)
	return nil
}

// The guide has a row for each gate. The gates are read once in a process: here from
// variables that say the opposite of each default.
func TestGates(t *testing.T) {
	gates := registry{}
	must.Do(t, features.AddFeaturesToExistingFeatureGates(gates))
	if isChild() {
		log := captureKlog(t, 1)
		for name := range gates {
			fmt.Printf("%s=%t\n", name, features.FeatureGates().Enabled(name))
		}
		fmt.Print(log)
		return
	}
	guide, err := os.ReadFile("../../field-guide.md")
	must.Do(t, err)
	rows := strings.Count(string(guide), "` | on | ") + strings.Count(string(guide), "` | off | ")
	expect.That(t, rows == len(gates), "the guide has %d gates, and client-go %d", rows, len(gates))
	var env []string
	for name, gate := range gates {
		env = append(env, fmt.Sprintf("KUBE_FEATURE_%s=%t", name, !gate.Default))
	}
	said := runChild(t, env...)
	said.want(t, `I… envvar.go:…] "Feature gate updated state" feature="WatchListClient" enabled=false`)
	said.want(t, `E… envvar.go:…] "Could not set feature gate, feature is locked" logger="UnhandledError" `+
		`feature="InOrderInformers" desiredState="false" lockedState=true`)
	for name, gate := range gates {
		row := fmt.Sprintf("\n| `%s` | %s | %s | ", name, map[bool]string{true: "on", false: "off"}[gate.Default],
			map[bool]string{true: "yes", false: "no"}[gate.LockToDefault])
		expect.That(t, strings.Contains(string(guide), row), "the guide has no row%s", row)
		now := fmt.Sprintf("%s=%t\n", name, gate.Default == gate.LockToDefault) // the opposite, unless it is locked
		expect.That(t, strings.Contains(said.String(), now), "want %sin\n%s", now, said)
	}
}

func TestGatesThatAreOff(t *testing.T) {
	try := func() string {
		server := fakeapi.New()
		must.Run(t, newConfigMaps(server.ListWatch, 0).RunWithContext)
		server.NextWatch()
		lists, informer := server.Lists(), newConfigMaps(server, 0)
		must.Run(t, informer.RunWithContext)
		must.Until(t, "it has synced", informer.HasSynced)
		return fmt.Sprintf("%d lists, versions %q and %q", lists, informer.GetStore().LastStoreSyncResourceVersion(),
			informer.GetController().LastSyncResourceVersion())
	}
	got, want := try(), `0 lists, versions "1" and "1"`
	expect.That(t, got == want, "by default: %s; want %s", got, want)
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, false)
	featurestesting.SetFeatureDuringTest(t, features.InformerResourceVersion, false)
	got, want = try(), `1 lists, versions "" and ""`
	expect.That(t, got == want, "without: %s; want %s", got, want)
}
