// What the tests of this package share: a recorder that gets its events from the test.

package recorder

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// configMap returns an object of the namespace that is shown.
func configMap(name, version, app string) *corev1.ConfigMap {
	cm := fakeapi.ConfigMap(name, version)
	cm.UID = types.UID("uid-" + name)
	cm.Labels = map[string]string{"app": app}
	return cm
}

// newRecorder returns a recorder that does not run: feed makes its records.
func newRecorder() *Recorder {
	return New(Options{
		Name: "configmaps", Kind: "ConfigMap", Namespace: "ns",
		Parts: map[Implementation]Parts{
			Ours:     {Fanout: Journal},
			Second:   {Queue: "DeltaFIFO", Fanout: Channels},
			ClientGo: {},
		},
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
		Status:   func() Status { return Status{} },
	})
}

// stored returns the event of a change that is in the store.
func stored(kind processor.Kind, before, after any) informer.Stored {
	object := metadataOf(after)
	return informer.Stored{
		Notification: processor.Notification{
			Kind: kind, Key: object.GetNamespace() + "/" + object.GetName(), Old: before, New: after,
		},
		Version: object.GetResourceVersion(),
	}
}

// feed reports events of our informer, and makes records of them.
func (r *Recorder) feed(events ...any) {
	for _, e := range events {
		r.Observer(Ours).Observe(e)
	}
	r.tick()
}

// records returns the records that are kept.
func (r *Recorder) records(t *testing.T) (all []record) {
	t.Helper()
	for _, kept := range r.history.kept {
		var decoded record
		must.NoError(t, json.Unmarshal(kept.text, &decoded))
		all = append(all, decoded)
	}
	return all
}

// wantChips compares the ways of all chips.
func (r *Recorder) wantChips(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, record := range r.records(t) {
		if c := record.Chip; c != nil {
			got = append(got, fmt.Sprintf("%s > %s: %s", c.From, c.To, c.Change))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chips differ (-want +got):\n%s", diff)
	}
}

// captions returns all captions.
func (r *Recorder) captions(t *testing.T) (all []caption) {
	t.Helper()
	for _, record := range r.records(t) {
		if record.Caption != nil {
			all = append(all, *record.Caption)
		}
	}
	return all
}

// wantCaption checks that there is a caption.
func (r *Recorder) wantCaption(t *testing.T, section, text string) {
	t.Helper()
	if want := (caption{Text: text, Section: section}); !slices.Contains(r.captions(t), want) {
		t.Errorf("captions = %q\nwant %q among them", r.captions(t), want)
	}
}

// wantStation compares the fields of a station that want has, which is JSON.
func wantStation(t *testing.T, r *Recorder, name, want string) {
	t.Helper()
	var stations map[string]map[string]any
	must.NoError(t, json.Unmarshal(r.stations, &stations))
	var wanted map[string]any
	must.NoError(t, json.Unmarshal([]byte(want), &wanted))
	for field, value := range wanted {
		if diff := cmp.Diff(value, stations[name][field]); diff != "" {
			t.Errorf("station %s: field %s differs (-want +got):\n%s", name, field, diff)
		}
	}
}
