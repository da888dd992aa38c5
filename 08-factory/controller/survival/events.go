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
	isEvent := func(sent *request) bool { return sent.resource == "events" }
	r.judge("a lost Event does not delay its end", func() {
		var took time.Duration
		for range 3 { // the machine may be slow; a controller that waits is slow each time
			remove := r.wire.refuse(-1, http.StatusInternalServerError, isEvent)
			mark := r.wire.mark()
			r.repairSecond()
			r.until(func() error {
				lost := func(sent *request) bool { return isEvent(sent) && sent.isAnswered() }
				if len(r.wire.find(mark, lost)) == 0 {
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
		held := r.wire.holdN(-1, isEvent)
		defer held.release()
		r.repairSecond()
		r.untilReached(held, "an Event")
		r.stop()
	})
}
