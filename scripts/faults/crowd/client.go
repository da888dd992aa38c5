// A client that asks for one thing after the other, and judges every answer.

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// A client has one connection, and has one question under way at a time. A
// server of ours works on 64 requests at once, and begins none on a connection
// before it is done with the one before: to so many clients it has no reason
// to say 503, which therefore is a wrong answer like any other.
type client struct {
	source  *source
	http    *http.Client
	random  *rand.Rand
	menu    []kind // one of these is asked for
	first   kind   // what is asked for before all else
	witness *witness
	results map[kind]*figures
	wrong   []error // the first few
}

// figures are of one kind of read.
type figures struct {
	took   []time.Duration
	bytes  int
	behind time.Duration // the most
	wrong  int
}

func (s *source) newClient(n int) *client {
	c := &client{
		source: s, http: &http.Client{Transport: s.connection(), Timeout: answerTimeout}, random: rand.New(rand.NewPCG(2, uint64(n))),
		witness: newWitness(s.objects), results: map[kind]*figures{},
	}
	for _, kind := range kinds {
		times, ok := s.mix()[kind]
		if ok {
			c.results[kind] = &figures{}
		}
		for range times {
			c.menu = append(c.menu, kind)
		}
	}
	c.first = c.menu[n%len(c.menu)] // all kinds are asked for, however slow the source is
	return c
}

// answerTimeout is when a client takes a question for lost.
const answerTimeout = 30 * time.Second

// run asks until the end has come.
func (c *client) run(ctx context.Context, end time.Time) {
	for next := c.first; time.Now().Before(end) && ctx.Err() == nil; next = c.menu[c.random.IntN(len(c.menu))] {
		r := read{kind: next}
		switch r.kind {
		case one:
			r.name = c.witness.objects[c.random.IntN(len(c.witness.objects))].name
		case labelled, keys:
			r.app = appName(c.random.IntN(apps))
		}
		err := c.ask(ctx, r)
		if err == nil || ctx.Err() != nil {
			continue
		}
		c.results[r.kind].wrong++
		if len(c.wrong) < few {
			c.wrong = append(c.wrong, fmt.Errorf("%s: %s: %w", c.source.name, c.source.path(r), err))
		}
	}
}

// few is how many wrong answers are worth telling.
const few = 3

// ask asks one question, and fails if the answer cannot be right.
func (c *client) ask(ctx context.Context, r read) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.source.url+c.source.path(r), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if c.source.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.source.token)
	}
	asked := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	took := time.Since(asked)
	if err != nil {
		return fmt.Errorf("half an answer: %w", err)
	}
	sights, err := c.understand(r, response, body)
	if err != nil {
		return err
	}
	behind, err := c.witness.hear(asked, sights)
	if err != nil {
		return err
	}
	f := c.results[r.kind]
	f.took = append(f.took, took)
	f.bytes += len(body)
	f.behind = max(f.behind, behind)
	return nil
}

// understand reads what an answer says, of each object that was asked for.
func (c *client) understand(r read, response *http.Response, body []byte) ([]sight, error) {
	if format := response.Header.Get("Content-Type"); !strings.HasPrefix(format, "application/json") {
		return nil, fmt.Errorf("%s, in %s: %.200s", response.Status, format, body)
	}
	switch {
	case response.StatusCode == http.StatusNotFound && r.kind == one:
		return []sight{{name: r.name, gone: true}}, c.source.missing(r, body)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %.200s", response.Status, body)
	}
	sights, err := c.source.understand(r, body)
	if err != nil || r.kind == one {
		return sights, err
	}
	return complete(r, sights, c.witness.objects)
}
