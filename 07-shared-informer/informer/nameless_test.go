// What no server sends, and something in between may: an object without a name, an
// event without an object, and a list that names an object twice.

package informer

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestAnObjectWithoutANameIsLeftOut(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"), configMap("", "1"))
		c := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("", "2"))
		w.Modify(configMap("", "3"))
		w.Delete(configMap("", "4"))
		w.Add(configMap("b", "5"))
		c.Want(t, "OnAdd a 1 first", "OnAdd b 5")
		keys := r.GetStore().ListKeys()
		slices.Sort(keys)
		if !slices.Equal(keys, []string{"ns/a", "ns/b"}) {
			t.Errorf("the store holds %q", keys)
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

// By ours: client-go's adds it twice.
func TestAnObjectThatAListNamesTwiceIsDeliveredOnce(t *testing.T) {
	for name, want := range map[string][]string{
		"client-go": {"OnAdd a 1 first", "OnAdd a 2 first"},
		"ours":      {"OnAdd a 2 first"},
	} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("a", "1"), configMap("a", "2"))
			c := r.recorder(t)
			r.run(t)
			c.Want(t, want...)
		})
	}
}

// The same pointer twice, and not only the same name.
func TestAnObjectThatIsTwiceInAListIsDeliveredOnce(t *testing.T) {
	for name, want := range map[string][]string{
		"client-go": {"OnAdd a 1 first", "OnAdd a 1 first"},
		"ours":      {"OnAdd a 1 first"},
	} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options())
			r.server.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				object := runtime.RawExtension{Object: configMap("a", "1")}
				return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"},
					Items: []runtime.RawExtension{object, object}}, nil
			}
			c := r.recorder(t)
			r.run(t)
			c.Want(t, want...)
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
