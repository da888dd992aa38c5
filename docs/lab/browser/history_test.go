//go:build browser

package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// record reads the messages of the program until the store has so many objects.
func record(t *testing.T, program *Program, begun chan<- bool, objects int) (all []message) {
	events, err := get(t.Context(), program.URL+"/events")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer events.Close()
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 2<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Error(err)
		}
		if all = append(all, m); len(all) == 1 {
			begun <- true
		}
		if m.Set.Store.Objects == objects {
			return all
		}
	}
	t.Error("the program has ended its events: ", lines.Err())
	return nil
}

// The page shows each moment of the past as it was.
func TestGoingBackInTime(t *testing.T) {
	program := serve(t)
	p := visit(t, program.URL, Look{})
	begun, recorded := make(chan bool, 1), make(chan []message, 1)
	go func() { recorded <- record(t, program, begun, 4) }()
	<-begun
	for range 3 {
		must.Do(t, p.Press("create"))
	}
	all := <-recorded
	until(t, p, "the page has all of it", fmt.Sprint(`Number(document.body.dataset.seq) >= `, all[len(all)-1].Seq))
	must.Do(t, p.Click("#pause"))
	until(t, p, "it is paused", `document.body.dataset.mode === "paused"`)

	seen, later := map[int]bool{}, 4
	for {
		seq := eval[int](t, p, `Number(document.body.dataset.seq)`)
		for len(all) > 1 && all[len(all)-1].Seq > seq {
			all = all[:len(all)-1]
		}
		// The page may have got, in one message, what came here in two: it has a state of this moment or of the next one.
		least := all[len(all)-1].Set.Store.Objects
		until(t, p, fmt.Sprintf("the store has %d objects or more after record %d, and %d at most", least, seq, later),
			fmt.Sprintf(`%[1]s >= %[2]d && %[1]s <= %[3]d`, Field("store", "objects"), least, later))
		later = number(t, p, "store", "objects")
		seen[later] = true
		if seq <= all[0].Seq {
			break
		}
		must.Do(t, p.Click("#back"))
		until(t, p, "it has gone back", fmt.Sprint(`Number(document.body.dataset.seq) < `, seq))
	}
	if len(seen) < 3 || later != 1 {
		t.Errorf("the store was seen with %v objects only, at first with %d", seen, later)
	}
	must.Do(t, p.Click("#forward"))
	must.Do(t, p.Press("create")) // what happens meanwhile is kept
	until(t, p, "it says how many wait", `document.querySelector("#waiting").innerText.includes("waiting")`)
	must.Do(t, p.Click("#live"))
	until(t, p, "it is live again", `document.body.dataset.mode === "live"`)
	until(t, p, "the last one is there", Field("store", "objects")+` === "5"`)
}
