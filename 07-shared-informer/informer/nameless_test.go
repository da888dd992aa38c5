// Tests of an object without a name, and of an event without an object. No server sends them, but a
// proxy may.

package informer_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/informer/scripts/harness/fakeapi"
)

func TestAnObjectWithoutANameIsLeftOut(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		handled.Take() // drop the errors of other tests
		r := newRig(newInformer, options(), configMap("", "1"), configMap("a", "1"))
		c := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("", "2"))
		w.Modify(configMap("", "3"))
		w.Delete(configMap("", "4"))
		w.Add(configMap("b", "5"))
		c.Want(t, "OnAdd a 1 first", "OnAdd b 5")
		if got, want := keys(r.GetStore()), []string{"ns/a", "ns/b"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		reported := handled.Take()
		if len(reported) != 4 {
			t.Fatalf("the error handlers got %q, want 4 errors: one of the list, and one of each event", reported)
		}
		for _, got := range reported {
			if want := "*v1.ConfigMap has no name"; !strings.Contains(got, want) {
				t.Errorf("the error handlers got %q, want a text that contains %q", got, want)
			}
		}
	})
}

func TestAnEventWithoutAnObjectIsLeftOut(t *testing.T) {
	for example, want := range map[runtime.Object]string{
		nil:                 "Unable to understand watch event: object does not implement the Object interfaces",
		&corev1.ConfigMap{}: "Unexpected watch event object type: <nil>",
	} {
		forEach(t, func(t *testing.T, newInformer maker) {
			handled.Take() // drop the errors of other tests
			r := newRig(newInformer, options(), configMap("a", "1"))
			r.SharedIndexInformer = newInformer(r.server, example, options())
			c := r.recorder(t)
			r.run(t)
			w := r.server.NextWatch()
			w.Add(nil)
			w.Modify(nil)
			w.Add(configMap("b", "2"))
			c.Want(t, "OnAdd a 1 first", "OnAdd b 2")
			handled.Want(t, want, want)
		})
	}
}

func TestClientGoStoresAnObjectWithoutAName(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(implementations["client-go"], options(), configMap("", "1"))
		c := r.recorder(t)
		r.run(t)
		c.Want(t, "OnAdd  1 first")
		if got, want := r.GetStore().ListKeys(), []string{"ns/"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		r.server.Set()
		fakeapi.Expire(r.server.NextWatch())
		r.server.NextWatch()
		c.Want(t, "OnDelete tombstone ns/ of 1")
	})
}
