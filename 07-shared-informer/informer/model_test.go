// The model test runs random scenarios. Whatever the server, the network and the handlers do, the
// calls of each handler lead to the state of the store.

package informer_test

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

	"example.com/informer/scripts/harness/must"
)

// A script makes the choices of a scenario, one byte each. After its end, each choice is 0.
type script struct{ rest []byte }

// choose returns a number from 0 to n-1.
func (s *script) choose(n int) int {
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
	lenient   bool // no handler panics, and a removed handler may get one more call
	long      bool // there will be a storm, after which the backlog of a stalled handler is folded
	server    *modelServer
	shared    cache.SharedIndexInformer
	reference *checker // stays from the start to the end, and is always quick
	others    []*checker
	folded    *checker // the handler that was stalled in the storm
}

// runScenario runs a script with an informer and returns the errors that the checks have found.
func runScenario(t *testing.T, text []byte, newInformer maker, lenient bool) (err error) {
	synctest.Test(t, func(t *testing.T) {
		s := &scenario{script: script{text}, server: newModelServer(), lenient: lenient}
		s.long = s.choose(256) == 255
		for range s.choose(8) {
			s.server.write(s.name())
		}
		period := []time.Duration{0, 0, 20 * time.Second, time.Minute}[s.choose(4)]
		s.server.plain = s.choose(2) == 0
		s.shared = newInformer(s.server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{ResyncPeriod: period})
		_ = s.shared.SetWatchErrorHandler(func(*cache.Reflector, error) {})
		s.reference = s.join("reference", 0)
		for range s.choose(4) {
			s.joinAnother()
		}
		defer must.Run(t, s.shared.RunWithContext)()
		err = errors.Join(s.play(), s.end())
	})
	return err
}

// actions are the actions of a scenario, and their weights. No action waits for its consequences.
var actions = []struct {
	weight int
	run    func(*scenario)
}{
	{8, func(s *scenario) { s.server.write(s.name()) }},
	{3, func(s *scenario) { s.server.remove(s.name()) }},
	{1, func(s *scenario) { s.server.bookmark() }},
	{1, func(s *scenario) { s.server.cut(nil) }},
	{1, func(s *scenario) { s.server.cut(errExpired) }},
	{1, func(s *scenario) {
		s.server.compact()
		s.server.cut(nil)
	}},
	{1, func(s *scenario) {
		s.server.failWith([]error{errRefused, errUnreachable}[s.choose(2)])
		s.server.cut(nil)
	}},
	{2, func(s *scenario) { s.server.failWith(nil) }},
	{2, (*scenario).joinAnother},
	{1, (*scenario).leave},
	{1, func(s *scenario) { s.stall(true) }},
	{1, func(s *scenario) { s.stall(false) }},
	{1, func(s *scenario) { time.Sleep(time.Duration(s.choose(256)) * 100 * time.Millisecond) }},
	{1, (*scenario).storm},
}

// weighted has each action as often as its weight says.
var weighted = func() (list []func(*scenario)) {
	for _, action := range actions {
		list = append(list, slices.Repeat([]func(*scenario){action.run}, action.weight)...)
	}
	return list
}()

// play runs the whole script, with a check after every 16 actions.
func (s *scenario) play() error {
	for n := 1; len(s.rest) > 0; n++ {
		weighted[s.choose(len(weighted))](s)
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

func (s *scenario) name() string { return string(rune('a' + s.choose(7))) }

func (s *scenario) joinAnother() {
	s.others = append(s.others, s.join(fmt.Sprintf("handler %d", len(s.others)+1), s.choose(16)))
}

// stall makes one of the handlers wait, or ends its wait.
func (s *scenario) stall(stalled bool) {
	if len(s.others) > 0 {
		s.others[s.choose(len(s.others))].stall(stalled)
	}
}

// join adds a handler. The bits of character say whether it is slow, panics, or asks for resyncs.
func (s *scenario) join(name string, character int) *checker {
	h := newChecker(name, s.shared.GetStore())
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
	registration, err := s.shared.AddEventHandlerWithOptions(h, options)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure, h.registration = err, registration
	return h
}

// leave removes a handler, at a quiet point or while it may be busy.
func (s *scenario) leave() {
	if len(s.others) == 0 {
		return
	}
	h := s.others[s.choose(len(s.others))]
	if s.choose(2) == 0 && !s.lenient {
		synctest.Wait()
		h.leave(s.shared.RemoveEventHandler(h.registration))
	} else {
		h.stall(false)
		h.leave(cache.ShutDownEventHandler(s.shared, h.registration))
	}
}

// storm makes many changes. In a long scenario, once, there are so many that the backlog of a
// stalled handler is folded.
func (s *scenario) storm() {
	n := 100
	if s.long {
		n, s.long = 20_000, false
		s.server.failWith(nil)
		s.folded = s.join("the one that is folded", s.choose(16))
		s.others = append(s.others, s.folded)
		time.Sleep(2 * time.Minute) // until the handler has all objects
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
	for range 7 { // the last states are random
		name := s.name()
		s.server.remove(name)
		if s.choose(3) > 0 {
			s.server.write(name)
		}
	}
	for range n / 50 { // the last changes are folded only if enough others follow
		s.server.write("z")
	}
	synctest.Wait()
}

// check checks all handlers at a quiet point.
func (s *scenario) check() error {
	synctest.Wait()
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	for _, h := range slices.Concat(s.others, []*checker{s.reference}) {
		if err := h.check(s.server.sent, s.shared.HasSynced()); err != nil {
			return err
		}
	}
	return nil
}

// end waits until all handlers have caught up. Then the store must be equal to the server, and no
// handler may have missed a change.
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
		return fmt.Errorf("the calls of the reference handler do not lead to the state of the server: %v", want)
	}
	if s.folded != nil {
		if n := len(s.folded.changes()); n > 5000 && !s.lenient {
			return fmt.Errorf("%s got %d changes, want at most 5000", s.folded.name, n)
		}
		return nil
	}
	whole := s.reference.changes()
	for _, h := range s.others {
		if h.removed {
			continue
		}
		got := h.changes() // since it joined: these are the last changes of the reference handler
		if want := whole[max(0, len(whole)-len(got)):]; !slices.Equal(got, want) {
			return fmt.Errorf("%s got the changes\n%q\nwant those of the reference handler\n%q", h.name, got, want)
		}
	}
	return nil
}

// scriptOf makes a random script from a seed.
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
		if err := runScenario(t, text, partTwo, false); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// client-go's informer passes the model test, with three exceptions. It does not promise to survive
// a panic, or to make no call after a removal. And a late handler can sync too early, in a rare
// race: the SingleFileTracker first sees that no object of the initial list is left, and only then
// looks whether the list has ended.
func TestTheModelIsClientGosToo(t *testing.T) {
	for seed := range uint64(100) {
		text := scriptOf(seed, 50+int(seed))
		if err := runScenario(t, text, cache.NewSharedIndexInformerWithOptions, true); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// Channels do not fold the backlog of a stalled handler: there is no storm.
func TestTheModelIsOfAllParts(t *testing.T) {
	for name, newInformer := range implementations {
		if name == "client-go" || name == "part-two" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				text := scriptOf(seed, 50+2*int(seed))
				text[0] = 0
				if err := runScenario(t, text, newInformer, false); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

func FuzzInformer(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(scriptOf(seed, 100))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := runScenario(t, text, partTwo, false); err != nil {
			t.Errorf("script %q: %v", text, err)
		}
	})
}
