// client-go's shared informer and our two run side by side on the same cluster, through thousands
// of changes and many broken connections. Each has ten handlers of different speeds.

package main

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// runShared runs an informer with ten handlers. Half of them join before the start, the others join
// a running informer. The slowest takes 9 ms for a call.
func runShared(t *testing.T, s *session.Session, name string) *record.Informer {
	t.Helper()
	in := record.NewInformer(t, s, name, 10)
	shared := newInformers[name](in.ConfigMaps, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	in.Store = shared.GetStore()
	add := func(i int) {
		in.Recorders[i] = record.NewRecorder(func(int) { time.Sleep(time.Duration(i) * time.Millisecond) })
		_, err := shared.AddEventHandler(in.Recorders[i])
		must.NoError(t, err)
	}
	for i := 0; i < 10; i += 2 {
		add(i)
	}
	start(t, shared)
	for i := 1; i < 10; i += 2 {
		add(i)
	}
	return in
}

func TestSideBySide(t *testing.T) {
	s := sessiontest.Open(t)
	record.SideBySide(t, s, func() []*record.Informer {
		var running []*record.Informer
		for name := range newInformers {
			running = append(running, runShared(t, s, name))
		}
		return running
	})
}
