// The pods that are read: what is written to them, and therefore can be read.

package main

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apps is how many values the label app has.
const apps = 10

// An object's annotations: the number of its change, and a text that belongs to
// that number.
const (
	numbered = "crowd.informer.example.com/change"
	worded   = "crowd.informer.example.com/text"
)

// A pod is created with this phase; later changes have a phase of their own,
// which nobody minds, since no kubelet looks after it.
const pending = "Pending"

func phaseOf(change int) string { return fmt.Sprintf("change-%d", change) }

// appOf is the label after a change: mostly another one than before.
func appOf(name string, change int) string {
	return appName(int(crc32.ChecksumIEEE([]byte(wordsOf(name, change))) % apps))
}

func appName(n int) string { return fmt.Sprintf("app-%d", n) }

func wordsOf(name string, change int) string {
	return strings.Repeat(fmt.Sprintf("%s at its change %d. ", name, change), 4)
}

// metaOf is all that a change gives to an object, but for the phase.
func metaOf(name string, change int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{"app": appOf(name, change)},
		Annotations: map[string]string{numbered: strconv.Itoa(change), worded: wordsOf(name, change)},
	}
}

func newPod(name string, change int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metaOf(name, change), Spec: corev1.PodSpec{
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
		Containers:      []corev1.Container{{Name: "idle", Image: "none"}},
	}}
}

// A state is how an object was between two changes.
type state struct {
	change     int // 0: it is not there
	phase, app string
	over       time.Time // when the next state was confirmed; zero as long as it is not
}

func (s state) String() string {
	if s.change == 0 {
		return "gone"
	}
	return fmt.Sprintf("change %d (%s, %s)", s.change, s.phase, s.app)
}

// A history has all states of an object, in order. One writer adds to it,
// before it makes the change: somebody may read that before the writer knows
// that it was made.
type history struct {
	name string

	mu     sync.RWMutex
	states []state
}

// newHistory is of an object that is not there yet.
func newHistory(name string) *history { return &history{name: name, states: []state{{}}} }

func (h *history) begin(s state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, s)
}

// confirm says that the last state has come.
func (h *history) confirm() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states[len(h.states)-2].over = time.Now()
}

// find returns the first state, not before from, that a sight can be of.
func (h *history) find(from int, seen sight) (at int, s state, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for at := from; at < len(h.states); at++ {
		if seen.fits(h.states[at]) {
			return at, h.states[at], true
		}
	}
	return 0, h.states[from], false
}
