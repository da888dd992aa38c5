// Answers that are right, and planted ones that are not.

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// An answer is one that a source may give.
type answer struct {
	read   read
	status int
	format string // of the body; JSON if it is empty
	body   string
}

func ok(r read, body string) answer { return answer{read: r, status: 200, body: body} }

// RoundTrip gives the answer, whatever is asked.
func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	if a.format == "" {
		a.format = "application/json; charset=utf-8"
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status),
		Header: http.Header{"Content-Type": {a.format}}, Body: io.NopCloser(strings.NewReader(a.body)),
	}, nil
}

// at returns the JSON of a pod after a change, which can be damaged.
func at(name string, change int, damage ...func(*corev1.Pod)) string {
	p := newPod(name, change)
	p.Namespace = "ns"
	p.Status.Phase = pending
	if change != 1 {
		p.Status.Phase = corev1.PodPhase(phaseOf(change))
	}
	for _, do := range damage {
		do(p)
	}
	text, _ := json.Marshal(p)
	return string(text)
}

// past makes the history of three objects: a was created, and changed twice; b
// was created, deleted, and created again; c has never been there.
func past() []*history {
	now := time.Now()
	is := func(name string, change int, phase string, over time.Duration) state {
		s := state{change: change, phase: phase, app: appOf(name, change)}
		if over > 0 {
			s.over = now.Add(-over)
		}
		return s
	}
	a, b, c := newHistory("a"), newHistory("b"), newHistory("c")
	a.states = append(a.states, is("a", 1, pending, 3*time.Second), is("a", 2, "change-2", 2*time.Second), is("a", 3, "change-3", 0))
	b.states = append(b.states, is("b", 1, pending, 0), state{}, is("b", 2, pending, 0))
	return []*history{a, b, c}
}

// hearAll has a client of a dialect get answers, and returns what it says of
// the last one; all before are to be right.
func hearAll(t *testing.T, d dialect, answers []answer) error {
	t.Helper()
	s := &source{dialect: d, name: "source", url: "http://source", objects: past()}
	c := s.newClient(0)
	for i, a := range answers {
		c.http.Transport = a
		err := c.ask(t.Context(), a.read)
		if i == len(answers)-1 {
			return err
		}
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	return nil
}

// A trial is a few answers to one client.
type trial struct {
	wrong   string // part of what is wrong with the last one; empty if nothing is
	answers []answer
}

func try(t *testing.T, d dialect, trials map[string]trial) {
	t.Helper()
	for name, trial := range trials {
		err := hearAll(t, d, trial.answers)
		if trial.wrong == "" && err != nil || trial.wrong != "" && (err == nil || !strings.Contains(err.Error(), trial.wrong)) {
			t.Errorf("%s: got %v, want %q", name, err, trial.wrong)
		}
	}
}

var (
	oneA, oneB, oneC = read{kind: one, name: "a"}, read{kind: one, name: "b"}, read{kind: one, name: "c"}
	list             = read{kind: whole}
	with             = func(app string) read { return read{kind: labelled, app: app} }
	named            = func(app string) read { return read{kind: keys, app: app} }
	b2               = func() string { return at("b", 2, func(p *corev1.Pod) { p.Status.Phase = pending }) }
)

func gone(name string) answer {
	return answer{read: read{kind: one, name: name}, status: 404, body: `{"error":"there is no \"ns/` + name + `\" in pods"}`}
}

func TestPagesOf08(t *testing.T) {
	other := func(p *corev1.Pod) { p.Labels["app"] = appOf("a", 1) + "0" }
	try(t, chapter08{"ns"}, map[string]trial{
		"one after the other":      {"", []answer{ok(oneA, at("a", 1)), ok(oneA, at("a", 2)), ok(oneA, at("a", 2)), ok(oneA, at("a", 3))}},
		"the newest at once":       {"", []answer{ok(oneA, at("a", 3))}},
		"gone, there, gone, there": {"", []answer{gone("b"), ok(oneB, at("b", 1)), gone("b"), ok(oneB, b2())}},
		"never there":              {"", []answer{gone("c")}},
		"a whole list":             {"", []answer{ok(list, "["+at("a", 2)+","+at("b", 1)+"]"), ok(list, "["+at("a", 2)+"]")}},
		"an empty one":             {"", []answer{ok(list, "[]")}},
		"a list by label":          {"", []answer{ok(with(appOf("a", 3)), "["+at("a", 3)+"]")}},

		"stale":                                {"a cannot be there (change 2", []answer{ok(oneA, at("a", 3)), ok(oneA, at("a", 2))}},
		"stale, in a list":                     {"a cannot be there (change 2", []answer{ok(oneA, at("a", 3)), ok(list, "["+at("a", 2)+"]")}},
		"stale after a list":                   {"b cannot be gone", []answer{ok(oneA, at("a", 1)), ok(list, "["+at("a", 1)+","+b2()+"]"), gone("b")}},
		"back from the dead":                   {"b cannot be there (change 1", []answer{ok(oneB, at("b", 1)), gone("b"), ok(oneB, at("b", 1))}},
		"gone, though it is there":             {"a cannot be gone", []answer{ok(oneA, at("a", 1)), gone("a")}},
		"gone from a list, though it is there": {"a cannot be gone", []answer{ok(oneA, at("a", 1)), ok(list, "[]")}},
		"not under its label":                  {"a cannot be gone, or not", []answer{ok(oneA, at("a", 3)), ok(with(appOf("a", 3)), "[]")}},
		"there, though it never was":           {"c cannot be there", []answer{ok(oneC, at("c", 2))}},
		"not written yet":                      {"a cannot be there (change 4", []answer{ok(oneA, at("a", 4))}},
		"torn: another label":                  {"a is torn", []answer{ok(oneA, at("a", 2, other))}},
		"torn: another phase":                  {"a is torn", []answer{ok(oneA, at("a", 2, func(p *corev1.Pod) { p.Status.Phase = "change-3" }))}},
		"torn: half a text":                    {"a is torn", []answer{ok(oneA, at("a", 2, func(p *corev1.Pod) { p.Annotations[worded] = p.Annotations[worded][:20] }))}},
		"torn: text of another":                {"a is torn", []answer{ok(oneA, at("a", 2, func(p *corev1.Pod) { p.Annotations[worded] = wordsOf("b", 2) }))}},
		"mixed: phase of an earlier life":      {"a cannot be there (change 2, phase \"Pending\"", []answer{ok(oneA, at("a", 2, func(p *corev1.Pod) { p.Status.Phase = pending }))}},
		"no annotations":                       {"a is torn", []answer{ok(oneA, at("a", 2, func(p *corev1.Pod) { p.Annotations = nil }))}},
		"another object":                       {"it is b", []answer{ok(oneA, at("b", 1))}},
		"of another namespace":                 {"a is of namespace other", []answer{ok(oneA, at("a", 2, func(p *corev1.Pod) { p.Namespace = "other" }))}},
		"listed twice":                         {"a is unknown, listed twice, or not in its place", []answer{ok(list, "["+at("a", 2)+","+at("a", 2)+"]")}},
		"out of order":                         {"a is unknown, listed twice, or not in its place", []answer{ok(list, "["+at("b", 1)+","+at("a", 2)+"]")}},
		"unknown":                              {"d is unknown", []answer{ok(list, "["+at("d", 1)+"]")}},
		"with another label":                   {"a has the label", []answer{ok(with("app-x"), "["+at("a", 2)+"]")}},
		"not found, without saying what":       {"want {", []answer{{read: oneC, status: 404, body: `{"error":"there is no page"}`}}},
		"not found, another one":               {"want {", []answer{{read: oneC, status: 404, body: gone("a").body}}},
		"no list found":                        {"Not Found", []answer{{read: list, status: 404, body: `{"error":"there is no resource"}`}}},
		"half":                                 {"unexpected end of JSON", []answer{ok(list, "["+at("a", 2))}},
		"nothing":                              {"unexpected end of JSON", []answer{ok(oneA, "")}},
		"one and a half":                       {"invalid character", []answer{ok(oneA, at("a", 2)+"{")}},
		"text":                                 {"text/plain", []answer{{oneA, 200, "text/plain", at("a", 2)}}},
		"too much":                             {"Service Unavailable", []answer{{oneA, 503, "", `{"error":"the limit"}`}}},
		"a page that failed":                   {"Internal Server Error", []answer{{oneA, 500, "", `{"error":"see the log"}`}}},
	})
}

func TestPagesOf07(t *testing.T) {
	line := func(name, phase string) string {
		return `{"namespace":"ns","name":"` + name + `","phase":"` + phase + `"}`
	}
	try(t, chapter07{"ns"}, map[string]trial{
		"one after the other": {"", []answer{ok(list, "["+line("a", pending)+"]"), ok(list, "["+line("a", "change-2")+"]"), ok(list, "["+line("a", "change-3")+","+line("b", pending)+"]")}},
		"names":               {"", []answer{ok(named(appOf("a", 3)), `["ns/a"]`)}},

		"stale":                     {"a cannot be there", []answer{ok(list, "["+line("a", "change-3")+"]"), ok(list, "["+line("a", "change-2")+"]")}},
		"stale: as it was created":  {"a cannot be there", []answer{ok(list, "["+line("a", "change-2")+"]"), ok(list, "["+line("a", pending)+"]")}},
		"a phase that nobody wrote": {"a cannot be there", []answer{ok(list, "["+line("a", "Running")+"]")}},
		"listed twice":              {"listed twice", []answer{ok(list, "["+line("a", "change-3")+","+line("a", "change-3")+"]")}},
		"with another label":        {"a cannot be there", []answer{ok(with("app-x"), "["+line("a", "change-3")+"]")}},
		"with an earlier label":     {"a cannot be there", []answer{ok(with(appOf("a", 2)), "["+line("a", "change-3")+"]")}},
		"a name under no label":     {"a cannot be there", []answer{ok(named("app-x"), `["ns/a"]`)}},
		"a name left out":           {"a cannot be gone, or not", []answer{ok(list, "["+line("a", "change-3")+"]"), ok(named(appOf("a", 3)), `[]`)}},
		"a name listed twice":       {"listed twice", []answer{ok(named(appOf("a", 3)), `["ns/a","ns/a"]`)}},
		"a name of elsewhere":       {"another namespace", []answer{ok(named(appOf("a", 3)), `["other/a"]`)}},
		"a pod of elsewhere":        {"a is of namespace other", []answer{ok(list, strings.Replace("["+line("a", "change-3")+"]", "ns", "other", 1))}},
		"gone from a list":          {"a cannot be gone", []answer{ok(list, "["+line("a", "change-3")+"]"), ok(list, "[]")}},
	})
}

func TestTheAPIServersAnswers(t *testing.T) {
	items := func(pods ...string) string {
		return `{"kind":"PodList","metadata":{},"items":[` + strings.Join(pods, ",") + `]}`
	}
	missing := func(r read, name string) answer {
		return answer{r, 404, "application/json", `{"kind":"Status","reason":"NotFound","details":{"name":"` + name + `","kind":"pods"},"code":404}`}
	}
	try(t, apiServer{namespace: "ns"}, map[string]trial{
		"one after the other": {"", []answer{ok(oneA, at("a", 1)), ok(list, items(at("a", 2), at("b", 1))), missing(oneB, "b"), ok(with(appOf("a", 3)), items(at("a", 3)))}},

		"stale":             {"a cannot be there", []answer{ok(list, items(at("a", 3))), ok(oneA, at("a", 2))}},
		"listed twice":      {"listed twice", []answer{ok(list, items(at("a", 3), at("a", 3)))}},
		"no such object":    {"got {", []answer{missing(oneB, "a")}},
		"a list of nothing": {"a cannot be gone", []answer{ok(oneA, at("a", 3)), ok(list, items())}},
	})
}

// The second of three changes was over two seconds ago; the third is not.
func TestBehind(t *testing.T) {
	for change, want := range map[int]time.Duration{1: 3 * time.Second, 2: 2 * time.Second, 3: 0} {
		behind, err := newWitness(past()).hear(time.Now(), []sight{{name: "a", change: change}})
		if err != nil || behind.Round(100*time.Millisecond) != want {
			t.Errorf("change %d: behind by %v, want %v (error %v)", change, behind, want, err)
		}
	}
}
