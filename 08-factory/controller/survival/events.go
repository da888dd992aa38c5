package survival

import (
	"errors"
	"net/http"
	"time"
)

// playEvents lets the Events of the controller fail. They are for people: no work depends on them.
func playEvents(r *runner) {
	r.needs("Reason", r.Reason)
	r.start()
	r.create(r.second.object)
	r.untilDone(r.second)
	isEvent := func(sent *request) bool { return sent.Resource == "events" }
	r.judge("a lost Event does not delay its end", func() {
		var took time.Duration
		for range 3 { // the machine may be slow; a controller that waits is slow each time
			remove := r.refuse(0, http.StatusInternalServerError, isEvent)
			mark := r.wire.Mark()
			r.repairSecond()
			r.until(func() error {
				lost := func(sent *request) bool { return isEvent(sent) && isAnswered(sent) }
				if len(r.wire.Find(mark, lost)) == 0 {
					return errors.New("the controller has made a child, and has not recorded an Event")
				}
				return nil
			})
			began := time.Now()
			r.stop()
			remove()
			if took = time.Since(began); took < soon {
				return
			}
			r.start()
		}
		r.t.Errorf("the API server has refused an Event, and the end took %v, want less than %v", took, soon)
	})
	r.judge("it ends even if its Events get no answer", func() {
		r.start()
		held := r.wire.Hold(0, isEvent)
		defer held.Release()
		r.repairSecond()
		r.untilHeld(held, "an Event")
		r.stop()
	})
}
