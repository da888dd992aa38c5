package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/step"
)

// stepSnapshot takes a snapshot of a store, and then writes to the store, even in the middle of a
// loop over the snapshot. The snapshot does not change.
func stepSnapshot(_ context.Context, env *step.Env) error {
	pods := store.New(store.Options{})
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
	}
	show := func(what string, list []any, version string) {
		var names []string
		for _, obj := range list {
			names = append(names, obj.(*corev1.Pod).Name+"@"+obj.(*corev1.Pod).ResourceVersion)
		}
		slices.Sort(names) // a list has no order
		fmt.Fprintf(env.Out, "%s : %v, as of version %s\n", what, names, version)
	}

	for _, p := range []*corev1.Pod{pod("db", "1"), pod("mail", "2"), pod("web", "3")} {
		if err := pods.Add(p); err != nil {
			return err
		}
	}
	before := pods.Snapshot()
	show("the snapshot", before.List(), before.Version())

	fmt.Fprintln(env.Out, "# web is updated, mail is deleted, cron is added; then a bookmark comes")
	if err := pods.Update(pod("web", "4")); err != nil {
		return err
	}
	if err := pods.Delete(pod("mail", "5")); err != nil {
		return err
	}
	if err := pods.Add(pod("cron", "6")); err != nil {
		return err
	}
	pods.Bookmark("9")
	show("the snapshot", before.List(), before.Version())
	show("the store", pods.List(), pods.LastStoreSyncResourceVersion())

	fmt.Fprintln(env.Out, "# a loop over the snapshot deletes each of its pods from the store")
	for key := range before.All() {
		if err := pods.Delete(pod(key, "10")); err != nil { // if the loop locked the store, Delete would wait forever
			return err
		}
	}
	show("the snapshot", before.List(), before.Version())
	show("the store", pods.List(), pods.LastStoreSyncResourceVersion())
	return nil
}
