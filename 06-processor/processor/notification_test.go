package processor_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/fakeapi"
)

func TestSameVersion(t *testing.T) {
	one, two := fakeapi.ConfigMap("a", "1"), fakeapi.ConfigMap("a", "2")
	for _, test := range []struct {
		name     string
		old, obj any
		want     bool
	}{
		{"the same object", one, one, true},
		{"another object of the same version", one, one.DeepCopy(), true},
		{"another version", one, two, false},
		{"no old object", nil, one, false},
		{"a tombstone", one, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: one}, false},
		{"no Kubernetes objects", "1", "1", false},
		{"objects without a version", &corev1.ConfigMap{}, &corev1.ConfigMap{}, true},
	} {
		n := processor.Notification{Kind: processor.Updated, Old: test.old, New: test.obj}
		if got := n.SameVersion(); got != test.want {
			t.Errorf("%s: SameVersion() = %t, want %t", test.name, got, test.want)
		}
	}
}
