// Tests of the benchmarks.

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/watch"
)

func TestNoUpdateLooksLikeAResync(t *testing.T) {
	all := makePods(3)
	now := map[string]string{}
	for _, pod := range all[0] {
		now[pod.Name] = pod.ResourceVersion
	}
	for k := range 30 {
		pod := all.update(k)
		if now[pod.Name] == pod.ResourceVersion {
			t.Fatalf("update %d: %s stays at resourceVersion %s", k, pod.Name, pod.ResourceVersion)
		}
		now[pod.Name] = pod.ResourceVersion
	}
}

func TestEveryHandlerGetsEveryEventOnce(t *testing.T) {
	for _, i := range informers {
		t.Run(i.name, func(t *testing.T) {
			all := makePods(10)
			s, w := newSource(all[0]), newWorkload(5, 3*batchSize+1)
			stop := newWatcher(t, i.new, s, w.counters).run(t)
			w.run(t, func(k int) { s.send(watch.Modified, all.update(k)) })
			stop()
			w.check(t)
		})
	}
}
