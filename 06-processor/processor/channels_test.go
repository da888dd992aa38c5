// The channels, as a Fanout and with a processor.

package processor_test

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheChannelsAreTheDefault(t *testing.T) {
	p := processor.New(nil)
	p.Start()
	defer p.Stop()
	called := make(chan struct{})
	_, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { close(called) }}, processor.Options{})
	must.NoError(t, err)
	p.Distribute(fanouttest.Added("a", 1))
	<-called
}

func TestFanout(t *testing.T) { fanouttest.Run(t, processor.NewChannels, nil) }
