//go:build browser

// The page under load, without an API server.

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/docs/xray/server"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/web"
)

// longestTask is how long the page may keep the browser busy without a pause. It is generous: on a
// virtual machine, the processor time of a task may include time that the host has taken away.
const longestTask = time.Second

// The page stays usable when it gets more events, and has more values of an index, than it can
// show.
func TestTenThousandEventsASecond(t *testing.T) {
	address := flood(t, 10_000)
	p := visit(t, address, Display{})
	stop := trace(t, p)
	until(t, p, "it says that it shows a part", `document.querySelector("#sampled").innerText.includes(" of ")`)
	until(t, p, "it says how many values it leaves out",
		`document.querySelector(".index").innerText.includes("and 9,994 more values that changed earlier")`)
	untilMinutes(t, p, "50,000 events have come", Field("reflector", "events")+" > 50000")
	must.NoError(t, p.Click("#pause")) // meanwhile, the page reacts
	until(t, p, "it pauses", `document.body.dataset.mode === "paused"`)
	must.NoError(t, p.Click("#back"))
	must.NoError(t, p.Click("#live"))
	until(t, p, "it is live again", `document.body.dataset.mode === "live"`)
	longest := stop()
	t.Log("the longest task:", longest)
	if longest == 0 {
		t.Error("the trace has no task of the page")
	}
	if longest > longestTask {
		t.Errorf("the longest task took %v, want at most %v", longest, longestTask)
	}
}

// flood serves an informer without an API server, whose source makes so many changes a second. It
// has 10,000 objects, each with a value of its own in the index.
func flood(t *testing.T, rate int) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	writingCtx, stopWriting := context.WithCancel(ctx)
	var running, writing sync.WaitGroup
	t.Cleanup(func() {
		stopWriting()
		writing.Wait() // before the watch is stopped: a write to that one panics
		cancel()
		running.Wait()
	})
	var objs []runtime.Object
	for i := range 10_000 {
		objs = append(objs, floodObject(i, 1))
	}
	source := fakeapi.New(objs...)
	connection, err := server.NewConnection(&rest.Config{}) // nobody dials
	must.NoError(t, err)
	options := &server.InformerOptions{
		Name: "configmaps", Kind: "ConfigMap", Example: &corev1.ConfigMap{},
		Indexers:       cache.Indexers{"app": indexer.ByLabel("app")},
		Source:         server.NewSource(source),
		ClientGoSource: server.NewSource(fakeapi.New()),
		Connection:     connection,
	}
	options.Informer = informer.NewWithParts(options.Source, options.Example,
		cache.SharedIndexInformerOptions{Indexers: options.Indexers}, parttwo.Parts)
	x, err := server.Start(ctx, "ns", options)
	must.NoError(t, err)
	running.Go(x.Wait)
	running.Go(func() { options.Informer.RunWithContext(ctx) })
	writing.Go(func() { writeChanges(writingCtx, source.NextWatch(), rate) })
	serving, err := web.Start(ctx, "localhost:0", x.Pages())
	must.NoError(t, err)
	running.Go(func() { _ = serving.Wait() })
	return serving.URL() + "/xray"
}

func floodObject(i, version int) runtime.Object {
	cm := fakeapi.ConfigMap(fmt.Sprintf("busy-%d", i), fmt.Sprint(version))
	cm.Labels = map[string]string{"app": fmt.Sprintf("value-%d", i)}
	return cm
}

// writeChanges updates 50 objects in turn, so many times a second, until ctx ends.
func writeChanges(ctx context.Context, w *watch.FakeWatcher, rate int) {
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for version := 2; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		for range rate / 100 {
			w.Modify(floodObject(version%50, version))
			version++
		}
	}
}

// trace begins to measure the tasks of the page. stop returns the processor time of the longest
// task: the time that a task waits for a processor does not count.
func trace(t *testing.T, p *Page) (stop func() time.Duration) {
	t.Helper()
	complete := chromedp.Events(p.ctx, tracing.TracingComplete)
	_, err := chromedp.Call(p.ctx, tracing.Start, tracing.StartParams{
		TransferMode: tracing.StartTransferModeReturnAsStream,
		TraceConfig: &tracing.TraceConfig{
			IncludedCategories: []string{"disabled-by-default-devtools.timeline", "toplevel"},
		},
	})
	must.NoError(t, err)
	return func() time.Duration {
		_, err := chromedp.Call(p.ctx, tracing.End, cdp.Empty{})
		must.NoError(t, err)
		for event, err := range complete {
			must.NoError(t, err)
			return longestIn(t, readStream(t, p, event.Stream))
		}
		t.Fatal("the trace has no end")
		return 0
	}
}

func readStream(t *testing.T, p *Page, stream cdpio.StreamHandle) []byte {
	t.Helper()
	var all []byte
	for {
		part, err := chromedp.Call(p.ctx, cdpio.Read, cdpio.ReadParams{Handle: stream})
		must.NoError(t, err)
		all = append(all, part.Data...)
		if part.EOF {
			return all
		}
	}
}

// longestIn returns the longest task of a page in a trace.
func longestIn(t *testing.T, text []byte) (longest time.Duration) {
	t.Helper()
	var trace struct {
		TraceEvents []struct {
			Name     string
			Pid, Tid int
			Tdur     int64 // processor time in µs
			Args     struct{ Name any }
		}
	}
	must.NoError(t, json.Unmarshal(text, &trace))
	type thread struct{ pid, tid int }
	pageThreads := map[thread]bool{}
	for _, e := range trace.TraceEvents {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			pageThreads[thread{e.Pid, e.Tid}] = true
		}
	}
	for _, e := range trace.TraceEvents {
		if pageThreads[thread{e.Pid, e.Tid}] && strings.Contains(e.Name, "RunTask") {
			longest = max(longest, time.Duration(e.Tdur)*time.Microsecond)
		}
	}
	return longest
}
