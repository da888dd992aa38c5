//go:build browser

// The page under load, without an API server.

package browser

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
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

// The page stays usable when it gets more events, and has more values of an index, than it can
// show.
func TestTenThousandEventsASecond(t *testing.T) {
	v := visitXRay(t, flood(t, 10_000), Display{})
	_, err := chromedp.Call(v.ctx, performance.Enable, performance.EnableParams{
		TimeDomain: performance.EnableTimeDomainThreadTicks, // what others on this machine do does not count
	})
	must.NoError(t, err)
	begun, before := time.Now(), v.workedFor()
	v.until("it says that it shows a part", `document.querySelector("#sampled").innerText.includes(" of ")`)
	v.until("it says how many values it leaves out",
		`document.querySelector(".index").innerText.includes("and 9,994 more values that changed earlier")`)
	v.untilMinutes("50,000 events have come", Field("reflector", "events")+" > 50000")
	v.click("#pause") // meanwhile, the page reacts
	v.until("it pauses", `document.body.dataset.mode === "paused"`)
	v.click("#back")
	v.click("#live")
	v.until("it is live again", `document.body.dataset.mode === "live"`)
	worked, passed := v.workedFor()-before, time.Since(begun)
	t.Logf("the page has worked %v of %v", worked, passed)
	if worked == 0 || worked > passed*3/4 {
		t.Errorf("the page has worked %v of %v, want at most three quarters: the rest is for the reader", worked, passed)
	}
}

// workedFor returns how long all tasks of the page have had a processor.
func (v *visitor) workedFor() time.Duration {
	v.t.Helper()
	all, err := chromedp.Call(v.ctx, performance.GetMetrics, cdp.Empty{})
	must.NoError(v.t, err)
	for _, metric := range all.Metrics {
		if metric.Name == "TaskDuration" {
			return time.Duration(metric.Value * float64(time.Second))
		}
	}
	v.t.Fatal("the browser does not say how long the tasks of the page took")
	return 0
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
		Indexers:     cache.Indexers{"app": indexer.ByLabel("app")},
		Source:       server.NewSource(source),
		SecondSource: server.NewSource(fakeapi.New()),
		Connection:   connection,
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
