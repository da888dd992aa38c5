// Random histories, and what must be true of each: whatever the server, the
// network and the handlers do, each handler knows what the store holds.

package informer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
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

// A scenario is one run of a script.
type scenario struct {
	script
	lenient   bool // no handler panics, and a removed one may get one call more
	long      bool // there is a storm, after which a stalled handler is folded
	server    *modelServer
	informer  cache.SharedIndexInformer
	reference *checker // is there from the start to the end, and is always quick
	others    []*checker
	folded    *checker // the one that was stalled in the storm
}

// runScenario runs a script with an informer and returns what was wrong.
func runScenario(t *testing.T, text []byte, newInformer maker, lenient bool) (err error) {
	synctest.Test(t, func(t *testing.T) {
		s := &scenario{script: script{text}, server: newModelServer(), lenient: lenient}
		s.long = s.one(256) == 255
		for range s.one(8) {
			s.server.write(s.name())
		}
		period := []time.Duration{0, 0, 20 * time.Second, time.Minute}[s.one(4)]
		s.server.plain = s.one(2) == 0
		s.informer = newInformer(s.server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{ResyncPeriod: period})
		_ = s.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {})
		s.reference = s.join("reference", 0)
		for range s.one(4) {
			s.joinAnother()
		}
		defer must.Run(t, s.informer.RunWithContext)()
		err = errors.Join(s.all(), s.end())
	})
	return err
}

// What can happen, and how likely it is. Nothing waits for its consequences.
var acts = []struct {
	times int
	do    func(*scenario)
}{
	{8, func(s *scenario) { s.server.write(s.name()) }},
	{3, func(s *scenario) { s.server.remove(s.name()) }},
	{1, func(s *scenario) { s.server.bookmark() }},
	{1, func(s *scenario) { s.server.cut(nil) }},
	{1, func(s *scenario) { s.server.cut(errExpired) }},
	{1, func(s *scenario) { s.server.compact(); s.server.cut(nil) }},
	{1, func(s *scenario) {
		s.server.failWith([]error{errRefused, errUnreachable}[s.one(2)])
		s.server.cut(nil)
	}},
	{2, func(s *scenario) { s.server.failWith(nil) }},
	{2, (*scenario).joinAnother},
	{1, (*scenario).leave},
	{1, func(s *scenario) { s.stall(true) }},
	{1, func(s *scenario) { s.stall(false) }},
	{1, func(s *scenario) { time.Sleep(time.Duration(s.one(256)) * 100 * time.Millisecond) }},
	{1, (*scenario).storm},
}

// likely has each act as often as it is likely.
var likely = func() (all []func(*scenario)) {
	for _, act := range acts {
		all = append(all, slices.Repeat([]func(*scenario){act.do}, act.times)...)
	}
	return all
}()

// all runs the whole script, and looks around now and then.
func (s *scenario) all() error {
	for n := 1; len(s.rest) > 0; n++ {
		likely[s.one(len(likely))](s)
		if n%16 == 0 {
			time.Sleep(2 * time.Minute)
			if err := s.check(); err != nil {
				return err
			}
		}
	}
	if s.long {
		s.storm()
	}
	return nil
}

func (s *scenario) name() string { return string(rune('a' + s.one(7))) }

func (s *scenario) joinAnother() {
	s.others = append(s.others, s.join(fmt.Sprintf("handler %d", len(s.others)+1), s.one(16)))
}

// stall makes one of the handlers wait, or wait no more.
func (s *scenario) stall(stalled bool) {
	if len(s.others) > 0 {
		s.others[s.one(len(s.others))].stall(stalled)
	}
}

// join adds a handler of some character.
func (s *scenario) join(name string, character int) *checker {
	h := newChecker(name, s.informer.GetStore())
	h.lenient = s.lenient
	if character&3 == 3 {
		h.slow = time.Millisecond
	}
	if character&4 != 0 && !s.lenient {
		h.panicEvery = 1 + character%5
	}
	var options cache.HandlerOptions
	if character&8 != 0 {
		period := time.Duration(character&3) * 15 * time.Second
		options.ResyncPeriod = &period
	}
	registration, err := s.informer.AddEventHandlerWithOptions(h, options)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure, h.registration = err, registration
	return h
}

// leave removes a handler, at a quiet moment or in the midst of things.
func (s *scenario) leave() {
	if len(s.others) == 0 {
		return
	}
	h := s.others[s.one(len(s.others))]
	if s.one(2) == 0 && !s.lenient {
		synctest.Wait()
		h.leave(s.informer.RemoveEventHandler(h.registration))
	} else {
		h.stall(false)
		h.leave(cache.ShutDownEventHandler(s.informer, h.registration))
	}
}

// storm is, once in a long scenario, more than a stalled handler is waited for.
func (s *scenario) storm() {
	n := 100
	if s.long {
		n, s.long = 20_000, false
		s.server.failWith(nil)
		s.folded = s.join("the one that is folded", s.one(16))
		s.others = append(s.others, s.folded)
		time.Sleep(2 * time.Minute) // it knows what there is
		s.folded.stall(true)
	}
	for i := range n {
		name := string(rune('a' + i%7))
		if i%11 == 0 {
			s.server.remove(name)
		} else {
			s.server.write(name)
		}
	}
	for range 7 { // how it ends
		name := s.name()
		s.server.remove(name)
		if s.one(3) > 0 {
			s.server.write(name)
		}
	}
	for range n / 50 { // what came last is folded when there is enough after it
		s.server.write("z")
	}
	synctest.Wait()
}

// check looks around at a quiet point.
func (s *scenario) check() error {
	synctest.Wait()
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	for _, h := range slices.Concat(s.others, []*checker{s.reference}) {
		if err := h.check(s.server.sent, s.informer.HasSynced()); err != nil {
			return err
		}
	}
	return nil
}

// end lets everything come to its end: the store is equal to the server, and
// no handler has missed anything.
func (s *scenario) end() error {
	s.server.failWith(nil)
	for _, h := range s.others {
		h.stall(false)
	}
	time.Sleep(5 * time.Minute)
	if err := s.check(); err != nil {
		return err
	}
	if want := s.server.versions(); s.reference.Behind(want) {
		return fmt.Errorf("the handlers do not know what the server has: %v", want)
	}
	if s.folded != nil {
		if n := len(s.folded.changes()); n > 5000 && !s.lenient {
			return fmt.Errorf("%s got %d changes", s.folded.name, n)
		}
		return nil
	}
	whole := s.reference.changes()
	for _, h := range s.others {
		if got := h.changes(); !h.gone && !slices.Equal(got, whole[max(0, len(whole)-len(got)):]) {
			return fmt.Errorf("%s got\n%q\nthe reference got\n%q", h.name, got, whole)
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
		err := runScenario(t, text, ours, false)
		expect.That(t, err == nil, "seed %d: %v", seed, err)
	}
}

// The model asks for nothing that client-go does not do, but for what it does
// not promise: to survive a panic, and to call no handler after its removal. And
// for what goes wrong there once in a while: its SingleFileTracker sees that
// nothing is left of the initial list, and only then whether the list has ended;
// so a late handler can have synced in the midst of it.
func TestTheModelIsClientGosToo(t *testing.T) {
	for seed := range uint64(100) {
		text := scriptOf(seed, 50+int(seed))
		err := runScenario(t, text, cache.NewSharedIndexInformerWithOptions, true)
		expect.That(t, err == nil, "seed %d: %v", seed, err)
	}
}

func FuzzInformer(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(scriptOf(seed, 100))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := runScenario(t, text, ours, false)
		expect.That(t, err == nil, "%v", err)
	})
}
