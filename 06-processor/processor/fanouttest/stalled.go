// What a stalled handler keeps in memory, counted object by object.

package fanouttest

import (
	"fmt"
	"runtime"
	"weak"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/06-processor/processor"
)

// The pods of a Workload, and how often they are updated: enough for the journal to fold.
const (
	Objects = 100
	Updates = 20_000
)

// A Workload is pods that are added, and then updated in turn. It does not keep them alive, except
// for the newest state of each.
type Workload struct {
	Distribute func(processor.Notification)
	newest     [Objects]*corev1.Pod
	all        []weak.Pointer[corev1.Pod]
}

// Add adds each pod.
func (w *Workload) Add() {
	for i := range w.newest {
		w.newest[i] = Pod(fmt.Sprintf("pod%02d", i), 0)
		w.distribute(processor.Notification{Kind: processor.Added, Key: w.newest[i].Name, New: w.newest[i]})
	}
}

// Update updates each pod, Updates times in all.
func (w *Workload) Update() {
	for i := range Updates {
		old := w.newest[i%Objects]
		updated := old.DeepCopy()
		w.newest[i%Objects] = updated
		w.distribute(processor.Notification{Kind: processor.Updated, Key: old.Name, Old: old, New: updated})
	}
}

func (w *Workload) distribute(n processor.Notification) {
	w.all = append(w.all, weak.Make(n.New.(*corev1.Pod)))
	w.Distribute(n)
}

// Alive is how many of all states cannot be freed.
func (w *Workload) Alive() (n int) {
	runtime.GC()
	for _, pod := range w.all {
		if pod.Value() != nil {
			n++
		}
	}
	return n
}

// Kept is how many states of a Workload's pods a Fanout keeps alive for a listener that has read
// the adds, and then reads no more.
func Kept(fanout processor.Fanout) int {
	listener := fanout.Listen(nil)
	defer listener.Close()
	w := Workload{Distribute: fanout.Distribute}
	w.Add()
	Read(listener, Objects)
	w.Update()
	return w.Alive()
}
