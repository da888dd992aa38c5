//go:build browser

package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// A recording is what the program has sent: a state, and the records after it.
type recording struct {
	state   map[string]json.RawMessage
	records []sent
}

type sent struct {
	Seq int
	Set map[string]json.RawMessage
}

// record reads the events of the program until done holds for the state after one.
func record(ctx context.Context, program *Program, begun chan<- bool,
	done func(map[string]json.RawMessage) bool) (all recording, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, program.URL+"/events", nil)
	if err != nil {
		return all, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return all, err
	}
	defer response.Body.Close()
	event := ""
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "event":
			event = value
		case name == "data" && event == "state":
			var state sent
			if err := json.Unmarshal([]byte(value), &state); err != nil {
				return all, err
			}
			all.state = state.Set
			begun <- true
		case name == "data":
			var records []sent
			if err := json.Unmarshal([]byte(value), &records); err != nil {
				return all, err
			}
			all.records = append(all.records, records...)
			if done(all.at(records[len(records)-1].Seq)) {
				return all, nil
			}
		}
	}
	return all, errors.Join(errors.New("the program has ended its events"), lines.Err())
}

// at is the state after a record.
func (r recording) at(seq int) map[string]json.RawMessage {
	state := maps.Clone(r.state)
	for _, record := range r.records {
		if record.Seq <= seq {
			maps.Copy(state, record.Set)
		}
	}
	return state
}

func objects(state map[string]json.RawMessage) string {
	var store struct{ Objects int }
	if json.Unmarshal(state["store"], &store) != nil {
		return "?"
	}
	return strconv.Itoa(store.Objects)
}

// The page shows each moment of the past as it was.
func TestGoingBackInTime(t *testing.T) {
	program := serve(t)
	p := visit(t, program.URL, Look{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	begun, recorded := make(chan bool, 1), make(chan recording, 1)
	failed := make(chan error, 1)
	go func() {
		all, err := record(ctx, program, begun, func(s map[string]json.RawMessage) bool { return objects(s) == "4" })
		recorded <- all
		failed <- err
	}()
	<-begun
	for range 3 {
		must.Do(t, p.Press("create"))
	}
	all := <-recorded
	must.Do(t, <-failed)
	last := all.records[len(all.records)-1].Seq
	until(t, p, "the page has all of it", `Number(document.body.dataset.seq) >= `+strconv.Itoa(last))
	must.Do(t, p.Click("#pause"))
	until(t, p, "it is paused", `document.body.dataset.mode === "paused"`)

	seen := map[string]bool{}
	for {
		seq := eval[int](t, p, `Number(document.body.dataset.seq)`)
		if seq <= all.records[0].Seq {
			break
		}
		if seq <= last {
			until(t, p, "the store is as it was after record "+strconv.Itoa(seq),
				Field("store", "objects")+` === "`+objects(all.at(seq))+`"`)
			seen[objects(all.at(seq))] = true
		}
		must.Do(t, p.Click("#back"))
		until(t, p, "it has gone back", `Number(document.body.dataset.seq) < `+strconv.Itoa(seq))
	}
	if len(seen) < 3 {
		t.Errorf("the store was seen with %v objects only", seen)
	}
	must.Do(t, p.Click("#forward"))
	must.Do(t, p.Press("create")) // what happens meanwhile is kept
	until(t, p, "it says how many wait", `document.querySelector("#waiting").innerText.includes("waiting")`)
	must.Do(t, p.Click("#live"))
	until(t, p, "it is live again", `document.body.dataset.mode === "live"`)
	until(t, p, "the last one is there", Field("store", "objects")+` === "5"`)
}
