// The judge: can what was told be the truth about what happened?

package history

import (
	"errors"
	"fmt"
	"slices"
)

// legal tells whether the calls are a sub-history of what happened: some
// moments may be left out, but none is made up, none comes out of order, and
// each call fits the one before it.
func legal(happened []state, calls []told) error {
	at := 0        // where in happened the informer is
	var last state // what it told of last; zero when there is nothing
	for i, call := range calls {
		if err := fits(last, call); err != nil {
			return fmt.Errorf("call %d, %s: %w", i+1, call.method, err)
		}
		was := func(s state) bool { return s == call.new }
		if last = call.new; call.method == "OnDelete" {
			last = state{}
			was = func(s state) bool {
				// As what it ended is known, unless there is only a tombstone.
				return s.over && s.uid == call.new.uid && (call.tombstone || s.value == call.new.value)
			}
		}
		next := slices.IndexFunc(happened[at:], was)
		if next < 0 {
			return fmt.Errorf("call %d, %s: %+v did not happen, or is told too late", i+1, call.method, call.new)
		}
		at += next
	}
	return nil
}

// fits tells whether a call can come after what was told last.
func fits(last state, call told) error {
	nothing := last == state{}
	switch {
	case call.method == "OnAdd" && !nothing:
		return fmt.Errorf("it was there already: %+v", last)
	case call.method != "OnAdd" && nothing:
		return errors.New("there was nothing")
	case call.method == "OnUpdate" && call.old != last:
		return fmt.Errorf("the old object is %+v, but told of was %+v", call.old, last)
	case call.tombstone && call.new != last:
		return fmt.Errorf("the tombstone holds %+v, but told of was %+v", call.new, last)
	}
	return nil
}
