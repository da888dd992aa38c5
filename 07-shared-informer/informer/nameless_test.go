// What no server sends, and something in between may: an object without a name, and
// an event without an object.

package informer

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestAnObjectWithoutANameIsLeftOut(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		handled.Take() // what other tests have left
		r := newRig(ours, options(), configMap("a", "1"), configMap("", "1"))
		c := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("", "2"))
		w.Modify(configMap("", "3"))
		w.Delete(configMap("", "4"))
		w.Add(configMap("b", "5"))
		c.Want(t, "OnAdd a 1 first", "OnAdd b 5")
		if got := keys(r.GetStore()); !slices.Equal(got, []string{"ns/a", "ns/b"}) {
			t.Errorf("the store holds %q", got)
		}
		if reported := handled.Take(); len(reported) != 4 ||
			!strings.Contains(reported[0], "*v1.ConfigMap has no name") {
			t.Errorf("reported was %q, want a line for each of four", reported)
		}
	})
}

func TestAnEventWithoutAnObjectIsLeftOut(t *testing.T) {
	for example, want := range map[runtime.Object]string{
		nil:                 "Unable to understand watch event: object does not implement the Object interfaces",
		&corev1.ConfigMap{}: "Unexpected watch event object type: <nil>",
	} {
		forBoth(t, func(t *testing.T, newInformer maker) {
			handled.Take() // what other tests have left
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
		if keys := r.GetStore().ListKeys(); !slices.Equal(keys, []string{"ns/"}) {
			t.Errorf("the store holds %q", keys)
		}
	})
}
