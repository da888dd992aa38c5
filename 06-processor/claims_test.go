// What the pages docs/06-processor*.md say about client-go, shown on the pinned
// version. There is no server, and time is fake.

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// newInformer makes a shared informer of client-go's.
func newInformer(server *fakeapi.Server) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
}

// start runs it until stop is called, or the test is over. ended is closed
// when Run has returned.
func start(t *testing.T, informer cache.SharedIndexInformer) (stop func(), ended <-chan struct{}) {
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	go func() { defer close(end); informer.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-end })
	return cancel, end
}

func join(t *testing.T, informer cache.SharedInformer,
	handler cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	t.Helper()
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		t.Fatal(err)
	}
	return registration
}

// wantLines wants that this was written, and no more, once all has come to rest.
func wantLines(t *testing.T, lines chan string, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for range len(lines) {
		got = append(got, <-lines)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// waits is a handler that waits in each call until it is released.
func waits(release <-chan struct{}, name string, lines chan<- string) cache.ResourceEventHandler {
	return recorder(name, lines, func(*corev1.Pod) { <-release })
}

func TestClientGosSourceSays(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/client-go/tools/cache")
	dir, err := list.Output()
	must.Do(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "shared_informer.go"))
	must.Do(t, err)
	words := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	for _, text := range []string{
		"using three goroutines, two unbuffered channels, and an unbounded ring buffer",
		"a failing/stalled listener will have infinite pendingNotifications added until we OOM",
		"This is no worse than before, since reflectors were backed by unbounded DeltaFIFOs, but we should try to " +
			"do something better",
		"initialBufferSize = 1024",
		"Optimize the case - skip adding to pendingNotifications",
		"processing them with `sharedIndexInformer::HandleDeltas`",
		"func newProcessListener(logger klog.Logger, handler ResourceEventHandler",
		"This only applies if utilruntime is configured to not panic, which is not the default",
		"Goroutines processing the remaining events may still be running and invoking callbacks after this function " +
			"returns",
		"blockDeltas gives a way to stop all event distribution so that a late event handler can safely join the " +
			"shared informer",
	} {
		if !strings.Contains(words, text) {
			t.Errorf("shared_informer.go does not say %q any more", text)
		}
	}
}

func TestASlowHandlerOfClientGosHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, slow, fast := make(chan struct{}), newLines(), newLines()
		join(t, informer, waits(release, "slow", slow))
		join(t, informer, recorder("fast", fast, nil))
		start(t, informer)
		w := server.NextWatch()
		w.Add(newPod("pod1", "Pending"))
		w.Add(newPod("pod2", "Pending"))
		wantLines(t, slow)
		wantLines(t, fast, "fast : OnAdd : pod1 : Pending", "fast : OnAdd : pod2 : Pending")
		close(release)
		wantLines(t, slow, "slow : OnAdd : pod1 : Pending", "slow : OnAdd : pod2 : Pending")
	})
}

func TestAHandlerOfClientGosHasTwoGoroutinesAndAThirdUntilItHasSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		server.Fail(errors.New("not yet"))
		informer := newInformer(server)
		join(t, informer, cache.ResourceEventHandlerFuncs{})
		start(t, informer)
		synctest.Wait()
		wantGoroutines(t, 1, "(*processorListener).run", "(*processorListener).pop", "(*processorListener).watchSynced")
		server.Set()
		server.NextWatch()
		synctest.Wait()
		wantGoroutines(t, 1, "(*processorListener).run", "(*processorListener).pop")
		wantGoroutines(t, 0, "(*processorListener).watchSynced")
	})
}

func TestALateHandlerOfClientGosGetsTheStoreAsItsFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		start(t, informer)
		w := server.NextWatch()
		w.Add(newPod("pod1", "Pending"))
		w.Modify(newPod("pod1", "Running"))
		synctest.Wait()
		lines := newLines()
		join(t, informer, recorder("late", lines, nil))
		w.Delete(newPod("pod1", "Running"))
		wantLines(t, lines, "late : OnAdd : pod1 : Running (in the initial list)", "late : OnDelete : pod1 : Running")
	})
}

func TestClientGosInformerHasSyncedBeforeItsHandlerHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := newInformer(fakeapi.New(newPod("pod1", "Pending")))
		release := make(chan struct{})
		registration := join(t, informer, waits(release, "busy", newLines()))
		start(t, informer)
		synctest.Wait()
		if !informer.HasSynced() || registration.HasSynced() {
			t.Errorf("the handler is busy; synced: the informer %t, the registration %t; want true, false",
				informer.HasSynced(), registration.HasSynced())
		}
		close(release)
		synctest.Wait()
		if !registration.HasSynced() {
			t.Error("the handler has returned, and the registration has not synced")
		}
	})
}

func TestClientGoDropsWhatWaitsForARemovedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, lines := make(chan struct{}), newLines()
		registration := join(t, informer, waits(release, "removed", lines))
		start(t, informer)
		w := server.NextWatch()
		for _, name := range []string{"pod1", "pod2", "pod3"} {
			w.Add(newPod(name, "Pending"))
		}
		synctest.Wait() // it is busy with pod1
		if err := informer.RemoveEventHandler(registration); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(release)
		wantLines(t, lines, "removed : OnAdd : pod1 : Pending")
	})
}

func TestClientGosRunDropsWhatWaitsAndReturnsAfterTheLastHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		release, lines := make(chan struct{}), newLines()
		join(t, informer, waits(release, "busy", lines))
		stop, ended := start(t, informer)
		w := server.NextWatch()
		w.Add(newPod("pod1", "Pending"))
		w.Add(newPod("pod2", "Pending"))
		synctest.Wait() // it is busy with pod1
		stop()
		select {
		case <-ended:
			t.Error("Run has returned, and the handler has not")
		case <-time.After(24 * time.Hour):
		}
		close(release)
		<-ended
		wantLines(t, lines, "busy : OnAdd : pod1 : Pending")
	})
}

// panicker panics when pod1 is added.
func panicker(lines chan<- string) cache.ResourceEventHandler {
	return recorder("touchy", lines, func(pod *corev1.Pod) {
		if pod.Name == "pod1" {
			panic("ouch")
		}
	})
}

// The test runs itself once more, as the program that ends.
func TestAHandlerThatPanicsEndsTheProgram(t *testing.T) {
	const inside = "PANIC_IN_A_HANDLER"
	if os.Getenv(inside) != "" {
		informer := newInformer(fakeapi.New(newPod("pod1", "Pending")))
		join(t, informer, panicker(newLines()))
		_, ended := start(t, informer)
		<-ended
		t.Fatal("Run has returned")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: ouch") {
		t.Errorf("the program ended with %v; want that it panics with ouch; it printed\n%s", err, out)
	}
}

func TestWithReallyCrashOffTheCallIsSkippedAndTheNextOneIsASecondLate(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil // nil: do not log it
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		touchy := newLines()
		join(t, informer, panicker(touchy))
		start(t, informer)
		w := server.NextWatch()
		begin := time.Now()
		w.Add(newPod("pod1", "Pending"))
		w.Add(newPod("pod2", "Pending"))
		line := <-touchy
		if late := time.Since(begin); late != time.Second || line != "touchy : OnAdd : pod2 : Pending" {
			t.Errorf("after %v: %s; want pod2, after a second", late, line)
		}
	})
}

func TestHandlersOfClientGosAreHandedTheSameObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newInformer(server)
		start(t, informer)
		w := server.NextWatch()
		w.Add(newPod("pod1", "Pending"))
		synctest.Wait()
		join(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			obj.(*corev1.Pod).Status.Phase = "Mine"
		}})
		synctest.Wait()
		lines := newLines()
		join(t, informer, recorder("another", lines, nil))
		w.Modify(newPod("pod1", "Running"))
		wantLines(t, lines, "another : OnAdd : pod1 : Mine (in the initial list)",
			"another : OnUpdate : pod1 : Running (was Mine)")
	})
}
