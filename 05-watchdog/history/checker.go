// The checker: can the calls of a handler be the truth about what happened?

package history

import (
	"errors"
	"fmt"
	"slices"
)

// legal tells whether the calls are a sub-history of what happened: some
// moments may be left out, but none is made up, none comes out of order, and
// each call fits the one before it.
func legal(happened []state, calls []call) error {
	at := 0        // where in happened the informer is
	var last state // what its last call brought; zero when there is nothing
	for i, c := range calls {
		if err := fits(last, c); err != nil {
			return fmt.Errorf("call %d, %s: %w", i+1, c.method, err)
		}
		was := func(s state) bool { return s == c.new }
		if last = c.new; c.method == "OnDelete" {
			last = state{}
			was = func(s state) bool {
				// As what it ended is known, unless there is only a tombstone.
				return s.over && s.uid == c.new.uid && (c.tombstone || s.value == c.new.value)
			}
		}
		next := slices.IndexFunc(happened[at:], was)
		if next < 0 {
			return fmt.Errorf("call %d, %s: %+v did not happen, or comes too late", i+1, c.method, c.new)
		}
		at += next
	}
	return nil
}

// fits tells whether a call can come after what the last one brought.
func fits(last state, c call) error {
	nothing := last == state{}
	switch {
	case c.method == "OnAdd" && !nothing:
		return fmt.Errorf("it was there already: %+v", last)
	case c.method != "OnAdd" && nothing:
		return errors.New("there was nothing")
	case c.method == "OnUpdate" && c.old != last:
		return fmt.Errorf("the old object is %+v, but the last call brought %+v", c.old, last)
	case c.tombstone && c.new != last:
		return fmt.Errorf("the tombstone holds %+v, but the last call brought %+v", c.new, last)
	}
	return nil
}
