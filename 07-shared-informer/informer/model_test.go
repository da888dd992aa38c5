// Random histories, and what must be true of each: whatever the server, the
// network and the handlers do, each handler knows what the store holds.

package informer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A script decides what happens. When it has ended, it says 0.
type script struct{ rest []byte }

// one of n.
func (s *script) one(n int) int {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return int(b) % n
}

// A play is one run of a script.
type play struct {
	script
	tame      bool // no handler panics, and a removed one may get one call more
	long      bool // there is a storm, after which a stalled handler is folded
	world     *world
	informer  cache.SharedIndexInformer
	chronicle *witness // is there all the time, and is always quick
	others    []*witness
	folded    *witness // the one that was stalled in the storm
}

// perform runs a script with an informer and returns what was wrong.
func perform(t *testing.T, text []byte, newInformer maker, tame bool) (err error) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{script: script{text}, world: newWorld(), tame: tame}
		p.long = p.one(256) == 255
		for range p.one(8) {
			p.world.write(p.name(), false)
		}
		period := []time.Duration{0, 0, 20 * time.Second, time.Minute}[p.one(4)]
		p.informer = newInformer(p.world.serve(p.one(2) == 0), &corev1.ConfigMap{},
			cache.SharedIndexInformerOptions{ResyncPeriod: period})
		_ = p.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {})
		p.chronicle = p.join("chronicle", 0)
		for range p.one(4) {
			p.act(joins)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); p.informer.RunWithContext(ctx) }()
		err = errors.Join(p.all(), p.end())
		cancel()
		<-ended
	})
	return err
}

// What can happen. What is likely is there more than once.
const (
	writes = iota
	removes
	marks
	cuts
	expires
	forgets
	breaks
	mends
	joins
	leaves
	stalls
	wakes
	waits
	storms
)

var acts = []int{
	writes, writes, writes, writes, writes, writes, writes, writes, removes, removes, removes, marks,
	cuts, expires, forgets, breaks, mends, mends, joins, joins, leaves, stalls, wakes, waits, storms,
}

// all performs the whole script, and looks around now and then.
func (p *play) all() error {
	for n := 1; len(p.rest) > 0; n++ {
		p.act(acts[p.one(len(acts))])
		if n%16 == 0 {
			time.Sleep(2 * time.Minute)
			if err := p.check(); err != nil {
				return err
			}
		}
	}
	if p.long {
		p.storm()
	}
	return nil
}

func (p *play) name() string { return string(rune('a' + p.one(7))) }

// act makes one thing happen. It does not wait for its consequences.
func (p *play) act(what int) {
	switch what {
	case writes:
		p.world.write(p.name(), p.one(2) == 0)
	case removes:
		p.world.remove(p.name())
	case marks:
		p.world.bookmark()
	case cuts:
		p.world.cut(false)
	case expires:
		p.world.cut(true)
	case forgets:
		p.world.forget()
		p.world.cut(false)
	case breaks:
		p.world.reach([]error{errRefused, errUnreachable}[p.one(2)])
		p.world.cut(false)
	case mends:
		p.world.reach(nil)
	case joins:
		p.others = append(p.others, p.join(fmt.Sprintf("handler %d", len(p.others)+1), p.one(16)))
	case leaves:
		p.leave()
	case stalls, wakes:
		if len(p.others) > 0 {
			p.others[p.one(len(p.others))].stall(what == stalls)
		}
	case waits:
		time.Sleep(time.Duration(p.one(256)) * 100 * time.Millisecond)
	case storms:
		p.storm()
	}
}

// join adds a handler of some character.
func (p *play) join(name string, character int) *witness {
	w := newWitness(name, p.world, p.informer.GetStore())
	w.tame = p.tame
	if character&3 == 3 {
		w.slow = time.Millisecond
	}
	if character&4 != 0 && !p.tame {
		w.scary = 1 + character%5
	}
	var options cache.HandlerOptions
	if character&8 != 0 {
		period := time.Duration(character&3) * 15 * time.Second
		options.ResyncPeriod = &period
	}
	registration, err := p.informer.AddEventHandlerWithOptions(w, options)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong, w.registration = err, registration
	return w
}

// leave removes a handler, at a quiet moment or in the midst of things.
func (p *play) leave() {
	if len(p.others) == 0 {
		return
	}
	w := p.others[p.one(len(p.others))]
	if p.one(2) == 0 && !p.tame {
		synctest.Wait()
		w.leave(p.informer.RemoveEventHandler(w.registration))
	} else {
		w.stall(false)
		w.leave(cache.ShutDownEventHandler(p.informer, w.registration))
	}
}

// storm is, once in a long play, more than a stalled handler is waited for.
func (p *play) storm() {
	n := 100
	if p.long {
		n, p.long = 20_000, false
		p.world.reach(nil)
		p.folded = p.join("the one that is folded", p.one(16))
		p.others = append(p.others, p.folded)
		time.Sleep(2 * time.Minute) // it knows what there is
		p.folded.stall(true)
	}
	for i := range n {
		name := string(rune('a' + i%7))
		if i%11 == 0 {
			p.world.remove(name)
		} else {
			p.world.write(name, i%7 > 2 && i%5 == 0)
		}
	}
	for range 7 { // how it ends
		name := p.name()
		p.world.remove(name)
		if end := p.one(3); end > 0 {
			p.world.write(name, end == 1)
		}
	}
	for range n / 50 { // what came last is folded when there is enough after it
		p.world.write("z", false)
	}
	synctest.Wait()
}

// check looks around at a quiet point.
func (p *play) check() error {
	synctest.Wait()
	for _, w := range slices.Concat(p.others, []*witness{p.chronicle}) {
		if err := w.check(p.informer.HasSynced()); err != nil {
			return err
		}
	}
	return nil
}

// end lets everything come to its end: the store is equal to the world, and
// nobody was left out of anything.
func (p *play) end() error {
	p.world.reach(nil)
	for _, w := range p.others {
		w.stall(false)
	}
	time.Sleep(5 * time.Minute)
	if err := p.check(); err != nil {
		return err
	}
	if got, want := list(p.chronicle.knows), list(p.world.alive); !slices.Equal(got, want) {
		return fmt.Errorf("told of %v, but there is %v", got, want)
	}
	if p.folded != nil {
		if n := len(p.folded.tale); n > 5000 && !p.tame {
			return fmt.Errorf("%s was told of %d changes", p.folded.name, n)
		}
		return nil
	}
	for _, w := range p.others {
		if whole := p.chronicle.tale; !w.gone && !slices.Equal(w.tale, whole[max(0, len(whole)-len(w.tale)):]) {
			return fmt.Errorf("%s was told of\n%q\nthe chronicle of\n%q", w.name, w.tale, whole)
		}
	}
	return nil
}

// scriptOf is the script that a seed stands for.
func scriptOf(seed uint64, length int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	text := make([]byte, length)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return text
}

func TestEachHandlerKnowsWhatTheStoreHolds(t *testing.T) {
	for seed := range uint64(300) {
		text := scriptOf(seed, 50+int(seed))
		if seed%15 == 14 && seed < 60 {
			text[0] = 255 // a long one
		}
		if err := perform(t, text, ours, false); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// The model asks for nothing that client-go does not do, but for what it does
// not promise: to survive a panic, and to call nobody after his removal. And
// for what goes wrong there once in a while: its SingleFileTracker sees that
// nothing is left of the initial list, and only then whether the list has ended;
// so a late handler can have synced in the midst of it.
func TestTheModelIsClientGosToo(t *testing.T) {
	for seed := range uint64(100) {
		if err := perform(t, scriptOf(seed, 50+int(seed)), cache.NewSharedIndexInformerWithOptions, true); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func FuzzInformer(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(scriptOf(seed, 100))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := perform(t, text, ours, false); err != nil {
			t.Error(err)
		}
	})
}
