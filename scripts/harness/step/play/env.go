package play

import (
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// An Env is what a step works with. Its methods are safe for use from any goroutine.
type Env struct {
	Out     io.Writer // where the step prints; safe for use from any goroutine
	Follow  bool      // interactive mode: the flag -follow was given
	Cluster Cluster   // nil for a step that needs none

	mu      sync.Mutex
	actions map[string]func()
	address string               // of the step's web server
	serves  func(address string) // called with the address when it becomes known
}

// On offers an action: where the transcript says "> name", the player calls do.
func (e *Env) On(name string, do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.actions == nil {
		e.actions = map[string]func(){}
	}
	e.actions[name] = do
}

// Do calls an action, as a transcript does. It returns false if the step does not offer the action.
// It is for tests that call an action at a certain moment.
func (e *Env) Do(name string) bool {
	do := e.action(name)
	if do == nil {
		return false
	}
	do()
	return true
}

// action returns the action of this name, or nil if the step does not offer it.
func (e *Env) action(name string) func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.actions[name]
}

// actionNames returns the names of all actions that the step offers, sorted.
func (e *Env) actionNames() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.actions))
}

// ServesAt makes the address of the step's web server known. In the transcript it is called
// ADDRESS.
func (e *Env) ServesAt(address string) {
	e.mu.Lock()
	e.address = address
	e.mu.Unlock()
	if e.serves != nil {
		e.serves(address)
	}
}

// serverAddress returns the address of the step's web server, or "" if the step has none yet.
func (e *Env) serverAddress() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.address
}

// normalize replaces the texts that differ from run to run by NAMESPACE and ADDRESS.
func (e *Env) normalize(line string) string {
	if e.Cluster != nil {
		line = strings.ReplaceAll(line, e.Cluster.Namespace(), "NAMESPACE")
	}
	if address := e.serverAddress(); address != "" {
		line = strings.ReplaceAll(line, address, "ADDRESS")
	}
	return line
}
