//go:build browser

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
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/07-shared-informer/xray"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// longestTask is the most that the page may keep the browser busy without a pause.
const longestTask = 200 * time.Millisecond

// The page stays usable when far more happens than anybody can see, and there is far
// more than it can show.
func TestTenThousandEventsASecond(t *testing.T) {
	address := flood(t, 10_000)
	p := visit(t, address, Look{})
	stop := trace(t, p)
	until(t, p, "it says that it shows a part", `document.querySelector("#sampled").innerText.includes(" of ")`)
	until(t, p, "it says how many values it leaves out",
		`document.querySelector(".index").innerText.includes("and 9,994 more values that changed earlier")`)
	inTheEnd(t, p, "100,000 events have come", Field("reflector", "events")+" > 100000")
	must.Do(t, p.Click("#pause")) // it answers meanwhile
	until(t, p, "it pauses", `document.body.dataset.mode === "paused"`)
	must.Do(t, p.Click("#back"))
	must.Do(t, p.Click("#live"))
	until(t, p, "it is live again", `document.body.dataset.mode === "live"`)
	longest := stop()
	t.Log("the longest task:", longest)
	if longest > longestTask || longest == 0 {
		t.Errorf("the longest task took %v, want at most %v", longest, longestTask)
	}
}

// flood serves an informer whose source makes so many changes a second, and has no
// API server. It has 10,000 objects, each with a value of its own in the index.
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
	object := func(i, version int) runtime.Object {
		cm := fakeapi.ConfigMap(fmt.Sprintf("busy-%d", i), fmt.Sprint(version))
		cm.Labels = map[string]string{"app": fmt.Sprintf("value-%d", i)}
		return cm
	}
	var objs []runtime.Object
	for i := range 10_000 {
		objs = append(objs, object(i, 1))
	}
	source := fakeapi.New(objs...)
	subject := &xray.Subject{
		Name: "configmaps", Kind: "ConfigMap", Example: &corev1.ConfigMap{},
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
		Source:   xray.NewSource(source), Theirs: xray.NewSource(fakeapi.New()), Line: &xray.Line{},
	}
	options := cache.SharedIndexInformerOptions{Indexers: subject.Indexers}
	subject.Informer = informer.New(subject.Source, subject.Example, options)
	x, err := xray.Start(ctx, "ns", subject)
	must.Do(t, err)
	running.Go(x.Wait)
	running.Go(func() { subject.Informer.RunWithContext(ctx) })
	writing.Go(func() {
		w := source.NextWatch()
		ticks := time.NewTicker(10 * time.Millisecond)
		defer ticks.Stop()
		for version := 2; ; {
			select {
			case <-writingCtx.Done():
				return
			case <-ticks.C:
			}
			for range rate / 100 {
				w.Modify(object(version%50, version))
				version++
			}
		}
	})
	server, err := web.Start(ctx, "localhost:0", x.Pages())
	must.Do(t, err)
	running.Go(func() { _ = server.Wait() })
	return server.URL() + "/xray"
}

// trace begins to measure. What it returns ends that, and says how long the longest
// task of the page took the processor: how long it waited for one is not its fault.
func trace(t *testing.T, p *Page) (stop func() time.Duration) {
	t.Helper()
	complete := chromedp.Events(p.ctx, tracing.TracingComplete)
	_, err := chromedp.Call(p.ctx, tracing.Start, tracing.StartParams{
		TransferMode: tracing.StartTransferModeReturnAsStream,
		TraceConfig: &tracing.TraceConfig{
			IncludedCategories: []string{"disabled-by-default-devtools.timeline", "toplevel"},
		},
	})
	must.Do(t, err)
	return func() time.Duration {
		_, err := chromedp.Call(p.ctx, tracing.End, cdp.Empty{})
		must.Do(t, err)
		for event, err := range complete {
			must.Do(t, err)
			return longestIn(t, read(t, p, event.Stream))
		}
		t.Fatal("the trace has no end")
		return 0
	}
}

func read(t *testing.T, p *Page, stream cdpio.StreamHandle) []byte {
	t.Helper()
	var all []byte
	for {
		part, err := chromedp.Call(p.ctx, cdpio.Read, cdpio.ReadParams{Handle: stream})
		must.Do(t, err)
		all = append(all, part.Data...)
		if part.EOF {
			return all
		}
	}
}

// longestIn finds the longest task of a page in a trace.
func longestIn(t *testing.T, text []byte) (longest time.Duration) {
	t.Helper()
	var trace struct {
		TraceEvents []struct {
			Name     string
			Pid, Tid int
			Tdur     int64 // in µs, of the processor
			Args     struct{ Name any }
		}
	}
	must.Do(t, json.Unmarshal(text, &trace))
	pages := map[[2]int]bool{} // their threads
	for _, e := range trace.TraceEvents {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			pages[[2]int{e.Pid, e.Tid}] = true
		}
	}
	for _, e := range trace.TraceEvents {
		if pages[[2]int{e.Pid, e.Tid}] && strings.Contains(e.Name, "RunTask") {
			longest = max(longest, time.Duration(e.Tdur)*time.Microsecond)
		}
	}
	return longest
}
