// Package fanout has the benchmarks that compare our shared informer with client-go's. They are Go
// benchmarks, and the last part of their names is the informer, so that benchstat can compare them:
//
//	go test -run '^$' -bench Events -benchtime 20000x -count 5 . | benchstat -col /informer -
//
// Both informers get the same objects from the same source, and have the same handlers. client-go
// has the default values of its feature gates.
package fanout

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
