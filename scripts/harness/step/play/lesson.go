package play

import (
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Lesson is what a step works with. Its methods are safe for use from any goroutine.
type Lesson struct {
	Out     io.Writer // where the step prints; safe for use from any goroutine
	Follow  bool      // the flag -follow was given: a user plays the world around the step
	Cluster Cluster   // nil for a step that needs none

	mu      sync.Mutex
	actions map[string]func()
	address string               // of the step's web server
	serves  func(address string) // called with the address when it becomes known
}

// On offers an action: where the transcript says "> name", the player calls do.
func (l *Lesson) On(name string, do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.actions == nil {
		l.actions = map[string]func(){}
	}
	l.actions[name] = do
}

// Do calls an action, as a transcript does. It returns false if the step does not offer the action.
// It is for tests that call an action at a certain moment.
func (l *Lesson) Do(name string) bool {
	do := l.action(name)
	if do == nil {
		return false
	}
	do()
	return true
}

// action returns the action of this name, or nil if the step does not offer it.
func (l *Lesson) action(name string) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.actions[name]
}

// actionNames returns the names of all actions that the step offers, sorted.
func (l *Lesson) actionNames() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.actions))
}

// ServesAt makes the address of the step's web server known. In the transcript it is called
// ADDRESS.
func (l *Lesson) ServesAt(address string) {
	l.mu.Lock()
	l.address = address
	l.mu.Unlock()
	if l.serves != nil {
		l.serves(address)
	}
}

// serverAddress returns the address of the step's web server, or "" if the step has none yet.
func (l *Lesson) serverAddress() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.address
}

// normalize replaces the texts that differ from run to run by NAMESPACE and ADDRESS.
func (l *Lesson) normalize(line string) string {
	if l.Cluster != nil {
		line = strings.ReplaceAll(line, l.Cluster.Namespace(), "NAMESPACE")
	}
	if address := l.serverAddress(); address != "" {
		line = strings.ReplaceAll(line, address, "ADDRESS")
	}
	return line
}
