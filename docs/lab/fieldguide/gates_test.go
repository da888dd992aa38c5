// The feature gates of client-go.

package fieldguide

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A registry collects the gates of client-go.
type registry map[features.Feature]features.FeatureSpec

// Add implements features.Registry.
func (r registry) Add(gates map[features.Feature]features.FeatureSpec) error {
	maps.Copy(r, gates)
	return nil
}

var gateRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (on|off) \\| (yes|no) \\| ")

// The guide has a row for each gate, with its default and whether it is locked. A process reads the
// gates from the environment once. So the test sets the opposite of each default in the environment
// of another process.
func TestGates(t *testing.T) {
	gates := registry{}
	must.NoError(t, features.AddFeaturesToExistingFeatureGates(gates))
	if isChild() {
		log := captureKlog(t, 1)
		for name := range gates {
			fmt.Printf("%s=%t\n", name, features.FeatureGates().Enabled(name))
		}
		fmt.Print(log)
		return
	}
	guide, err := readGuide()
	must.NoError(t, err)
	var got, want []string
	for _, match := range gateRow.FindAllStringSubmatch(guide, -1) {
		got = append(got, strings.Join(match[1:], " "))
	}
	for name, gate := range gates {
		want = append(want, describeGate(name, gate))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the gates of the guide differ from those of client-go (-client-go +guide):\n%s", diff)
	}

	var env []string
	for name, gate := range gates {
		env = append(env, fmt.Sprintf("KUBE_FEATURE_%s=%t", name, !gate.Default))
	}
	output := runChild(t, env...)
	output.want(t, `I… envvar.go:…] "Feature gate updated state" feature="WatchListClient" enabled=false`)
	output.want(t, `E… envvar.go:…] "Could not set feature gate, feature is locked" logger="UnhandledError" `+
		`feature="InOrderInformers" desiredState="false" lockedState=true`)
	for name, gate := range gates {
		enabled := !gate.Default
		if gate.LockToDefault {
			enabled = gate.Default
		}
		if line := fmt.Sprintf("%s=%t\n", name, enabled); !strings.Contains(output.String(), line) {
			t.Errorf("with the opposite of each default in the environment, the output has no line %q:\n%s",
				line, output)
		}
	}
}

// describeGate returns the words of a gate's row: its name, on or off, and yes if it is locked.
func describeGate(name features.Feature, gate features.FeatureSpec) string {
	state, locked := "off", "no"
	if gate.Default {
		state = "on"
	}
	if gate.LockToDefault {
		locked = "yes"
	}
	return fmt.Sprintf("%s %s %s", name, state, locked)
}

func TestGatesThatAreOff(t *testing.T) {
	type observation struct {
		Lists             int // the number of LISTs of an informer that can stream
		StoreVersion      string
		ControllerVersion string
	}
	observe := func() observation {
		server := fakeapi.New()
		must.Run(t, newConfigMaps(server.ListWatch, 0).RunWithContext)
		server.NextWatch()
		lists, informer := server.Lists(), newConfigMaps(server, 0)
		must.Run(t, informer.RunWithContext)
		must.Until(t, "the informer has synced", informer.HasSynced)
		return observation{
			Lists:             lists,
			StoreVersion:      informer.GetStore().LastStoreSyncResourceVersion(),
			ControllerVersion: informer.GetController().LastSyncResourceVersion(),
		}
	}
	if diff := cmp.Diff(observation{Lists: 0, StoreVersion: "1", ControllerVersion: "1"}, observe()); diff != "" {
		t.Errorf("with the default gates (-want +got):\n%s", diff)
	}
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, false)
	featurestesting.SetFeatureDuringTest(t, features.InformerResourceVersion, false)
	if diff := cmp.Diff(observation{Lists: 1, StoreVersion: "", ControllerVersion: ""}, observe()); diff != "" {
		t.Errorf("with three gates off (-want +got):\n%s", diff)
	}
}
