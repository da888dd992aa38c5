// The parts that the page can show, and which of them it shows.

package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/web"
)

// ClientGo is the name of client-go's informer in a Comparison.
const ClientGo = "client-go"

// A set is a set of parts that can be chosen.
type set struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	parts recorder.Parts
	make  informer.Parts
}

var sets = []set{
	{
		Name: "parttwo", Title: "Part II: no queue, a journal",
		parts: recorder.Parts{Fanout: recorder.Journal}, make: parttwo.Parts,
	}, {
		Name: "realfifo", Title: "Part I, with a RealFIFO",
		parts: recorder.Parts{Queue: "RealFIFO", Fanout: recorder.Channels},
		make:  informer.Parts{Queue: informer.RealFIFO},
	}, {
		Name: "deltafifo", Title: "Part I, with a DeltaFIFO",
		parts: recorder.Parts{Queue: "DeltaFIFO", Fanout: recorder.Channels},
		make:  informer.Parts{Queue: informer.DeltaFIFO},
	},
	{Name: ClientGo, Title: "client-go’s informer"},
}

// A Comparison names the parts of two informers. The First is one of ours.
type Comparison struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

// ParseComparison returns the comparison of two names with a comma between them.
func ParseComparison(text string) (Comparison, error) {
	first, second, _ := strings.Cut(text, ",")
	c := Comparison{first, second}
	_, _, err := c.sets()
	return c, err
}

func (c Comparison) sets() (first, second set, err error) {
	find := func(name string) int { return slices.IndexFunc(sets, func(s set) bool { return s.Name == name }) }
	i, j := find(c.First), find(c.Second)
	if i < 0 || j < 0 || c.First == ClientGo {
		return set{}, set{}, refuse(http.StatusBadRequest, "cannot show %q beside %q: want one of ours "+
			"(parttwo, realfifo, deltafifo), and beside it one of ours or client-go", c.First, c.Second)
	}
	return sets[i], sets[j], nil
}

// setInformers makes the informers that are compared, or leaves the second one to Start.
func (o *InformerOptions) setInformers(ctx context.Context, c Comparison) error {
	first, second, err := c.sets()
	if err != nil {
		return err
	}
	o.loop = newPace(ctx, 0)
	o.Informer = o.newInformer(first, o.Source)
	o.Parts = map[recorder.Implementation]recorder.Parts{recorder.Ours: first.described()}
	if c.Second == ClientGo {
		o.Parts[recorder.ClientGo] = second.described()
		return nil
	}
	o.Second = o.newInformer(second, o.SecondSource)
	o.Parts[recorder.Second] = second.described()
	return nil
}

func (s set) described() recorder.Parts {
	s.parts.Title = s.Title
	return s.parts
}

// patience is how far a handler may be behind before a journal folds: a slow one is soon far behind.
const patience = 500

func (o *InformerOptions) newInformer(s set, source *Source) *informer.Informer {
	parts := s.make
	if newQueue := parts.Queue; s.parts.Queue != "" {
		parts.Queue = func(known cache.KeyListerGetter) informer.Queue {
			source.queue = recorder.NewObservedQueue(newQueue(known), known)
			return pacedQueue{source.queue, o.loop}
		}
	}
	i := informer.NewWithParts(source, o.Example, cache.SharedIndexInformerOptions{Indexers: o.Indexers}, parts)
	i.SetPatience(patience)
	return i
}

// A Show is an XRay that is replaced by another when the user chooses other parts.
type Show struct {
	ctx        context.Context
	namespace  string
	newOptions func() []*InformerOptions
	current    atomic.Pointer[XRay]

	mu   sync.Mutex // held while the parts are changed
	stop func()     // stops the current XRay and its informers, and waits for their end
}

// Compare shows two sets of parts until ctx ends. newOptions returns options without an Informer;
// it is called for each comparison.
func Compare(ctx context.Context, namespace string, c Comparison, newOptions func() []*InformerOptions) (*Show, error) {
	s := &Show{ctx: ctx, namespace: namespace, newOptions: newOptions, stop: func() {}}
	if err := s.compare(c); err != nil {
		return nil, err
	}
	return s, nil
}

// compare starts the informers of a comparison, and stops those before.
func (s *Show) compare(c Comparison) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithCancel(s.ctx)
	options := s.newOptions()
	for _, o := range options {
		if err := o.setInformers(ctx, c); err != nil {
			cancel()
			return err
		}
	}
	x, err := Start(ctx, s.namespace, options...)
	if err != nil {
		cancel()
		return fmt.Errorf("showing %s beside %s: %w", c.First, c.Second, err)
	}
	for _, p := range x.pairs {
		p.compare = s.compare
		x.running.Go(func() { p.Informer.RunWithContext(ctx) })
	}
	x.view.Comparison = gin.H{"first": c.First, "second": c.Second, "sets": sets}
	if old := s.current.Load(); old != nil { // the same page, with the same limits
		x.limiter, x.view.Token = old.limiter, old.view.Token
	}
	s.current.Store(x)
	s.stop()
	s.stop = func() {
		cancel()
		x.Wait()
	}
	return nil
}

// Wait returns when ctx has ended, and with it all that Compare has started.
func (s *Show) Wait() {
	<-s.ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

// Pages returns the pages for a web.Server.
func (s *Show) Pages() web.Pages {
	pages := web.Pages{}
	for pattern := range s.current.Load().Pages() {
		pages[pattern] = func(c *gin.Context) { s.current.Load().Pages()[pattern](c) }
	}
	return pages
}
