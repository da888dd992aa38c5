// Tests of what the page docs/07-shared-informer-journal.md says about the two designs.

package journal

import (
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
	"example.com/informer/scripts/harness/must"
)

func TestAHandlerHasTwoGoroutinesInClientGosWayAndOneInOurs(t *testing.T) {
	for _, test := range []struct {
		newFanout func() processor.Fanout
		wantPops  int // goroutines in channelListener.pop
	}{
		{newFanout: processor.NewChannels, wantPops: 1},
		{newFanout: newFanout, wantPops: 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := processor.New(test.newFanout())
			p.Start()
			defer p.Stop()
			_, err := p.Add(cache.ResourceEventHandlerFuncs{}, processor.Options{})
			must.NoError(t, err)
			synctest.Wait()
			fanouttest.WantGoroutines(t, 1, "(*Registration).run")
			fanouttest.WantGoroutines(t, test.wantPops, "(*channelListener).pop")
		})
	}
}

func TestWhatAStalledHandlerKeepsAlive(t *testing.T) {
	channels, journal := fanouttest.Kept(processor.NewChannels()), fanouttest.Kept(New())
	t.Logf("of %d pods, the channels keep %d, the journal keeps %d",
		fanouttest.Objects+fanouttest.Updates, channels, journal)
	if channels < fanouttest.Updates {
		t.Errorf("the channels keep %d pods, want at least %d", channels, fanouttest.Updates)
	}
	const limit = 2*fanouttest.Objects + 2*chunkSize // the old and the new state of each pod, and two chunks
	if journal > limit {
		t.Errorf("the journal keeps %d pods, want at most %d", journal, limit)
	}
}
