// The run: a control plane, two servers, many clients.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/01-deltafifo/workspace"
	"example.com/informer/scripts/faults/ground"
)

// clients is how many there are of each source; only those of one source ask at
// a time.
const clients = 64

// turn is how long a source is asked before it is the next one's turn.
const turn = 5 * time.Second

// A crowd is a run under way.
type crowd struct {
	options
	progress io.Writer
	ground   *ground.Ground
	servers  []*server
	churn    churn
	sources  []*source
	clients  map[*source][]*client
}

// outcome is what a run came to.
type outcome struct {
	options
	version string // of Kubernetes
	sources []*source
	lasted  map[*source]time.Duration // how long it was asked, in all
	changes map[*source]int           // how many were made meanwhile
	asked   map[*source]map[kind]*figures
	wrong   map[*source]int // pages that were wrong in the end
	errs    []error         // the first few wrong answers
}

func newOutcome(o options, version string, sources []*source) *outcome {
	return &outcome{
		options: o, version: version, sources: sources,
		lasted: map[*source]time.Duration{}, changes: map[*source]int{}, asked: map[*source]map[kind]*figures{}, wrong: map[*source]int{},
	}
}

// run does everything, and leaves nothing behind.
func (c *crowd) run(ctx context.Context) (out *outcome, err error) {
	dir, err := os.MkdirTemp("", "crowd-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.ground, err = ground.Open(ctx, c.progress); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.ground.Close()) }()
	defer func() {
		for _, s := range c.servers {
			err = errors.Join(err, s.stop())
		}
	}()
	if err := c.serve(ctx, dir); err != nil {
		return nil, err
	}
	if err := c.fill(ctx); err != nil {
		return nil, err
	}
	return c.measure(ctx)
}

// chapters are the programs that serve.
var chapters = []string{"07-shared-informer", "08-factory"}

// serve starts the servers. Each makes a namespace, and serves that.
func (c *crowd) serve(ctx context.Context, dir string) (err error) {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	stop, err := furnish(ctx, c.ground.Client)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, chapter := range chapters {
		c.say("building and starting %s", chapter)
		program, err := build(ctx, root, chapter, dir)
		if err != nil {
			return err
		}
		s, err := serve(ctx, program, c.ground.Plane.Kubeconfig())
		if err != nil {
			return err
		}
		c.servers = append(c.servers, s)
	}
	return nil
}

func (c *crowd) say(format string, args ...any) { fmt.Fprintf(c.progress, format+"\n", args...) }

// fill creates as many objects in each namespace, and waits until the pages
// show them.
func (c *crowd) fill(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.ground.Plane.Kubeconfig())
	if err != nil {
		return err
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return err
	}
	a, b := c.servers[0], c.servers[1]
	inA, inB := c.histories(), c.histories()
	api := func(name string, anyVersion bool) *source {
		return &source{dialect: apiServer{b.namespace, anyVersion}, name: name, url: strings.TrimSuffix(config.Host, "/"),
			namespace: b.namespace, objects: inB, tls: tls, token: config.BearerToken}
	}
	c.sources = []*source{
		{dialect: chapter07{a.namespace}, name: "pages of 07", url: a.url, namespace: a.namespace, objects: inA,
			pages: func(pods []corev1.Pod) []page { return pages07(a.namespace, pods) }},
		{dialect: chapter08{b.namespace}, name: "pages of 08", url: b.url, namespace: b.namespace, objects: inB,
			pages: func(pods []corev1.Pod) []page { return pages08(b.namespace, pods, inB) }},
		api("API server", false),
		api("API server, any version", true),
	}
	c.churn.add(c.ground.Client, a.namespace, inA)
	c.churn.add(c.ground.Client, b.namespace, inB)
	c.say("creating %d pods in each of two namespaces", c.objects)
	if err := c.churn.fill(ctx); err != nil {
		return err
	}
	for _, s := range c.sources {
		if s.pages == nil {
			continue
		}
		if wrong, err := s.settle(ctx, c.ground.Client); err != nil {
			return fmt.Errorf("%d pages are wrong before anybody asked: %w", wrong, err)
		}
	}
	return nil
}

// histories are of as many objects, by name.
func (c *crowd) histories() []*history {
	all := make([]*history, c.objects)
	for i := range all {
		all[i] = newHistory(fmt.Sprintf("pod-%05d", i))
	}
	return all
}

// measure lets the sources be asked amid changes, and then at rest.
func (c *crowd) measure(ctx context.Context) (*outcome, error) {
	version, err := c.ground.Client.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	out := newOutcome(c.options, version.GitVersion, c.sources)
	c.clients = map[*source][]*client{}
	for _, s := range c.sources {
		for n := range clients {
			c.clients[s] = append(c.clients[s], s.newClient(n))
		}
	}
	defer func() {
		for _, all := range c.clients {
			for _, one := range all {
				one.http.CloseIdleConnections()
			}
		}
	}()
	if err := c.turns(ctx, out); err != nil {
		return nil, err
	}
	c.say("comparing every page with a fresh list")
	for _, s := range c.sources {
		if s.pages != nil {
			wrong, err := s.settle(ctx, c.ground.Client)
			if err != nil && wrong == 0 {
				return nil, err
			}
			if out.wrong[s] = wrong; err != nil {
				out.errs = append(out.errs, err)
			}
		}
		out.sum(s, c.clients[s])
	}
	return out, nil
}

// turns lets the sources take turns in being asked, each as long as the others,
// and notes how many changes were made a second meanwhile.
func (c *crowd) turns(ctx context.Context, out *outcome) error {
	amid := c.churn.start(ctx, c.options.rate)
	for left := c.duration; left > 0; left -= turn {
		for _, s := range c.sources {
			if amid.Err() != nil {
				break
			}
			c.say("%d clients of: %s, %v left", clients, s.name, left)
			began, before := time.Now(), c.churn.made.Load()
			c.ask(amid, s, min(left, turn))
			out.changes[s] += int(c.churn.made.Load() - before)
			out.lasted[s] += time.Since(began)
		}
	}
	return errors.Join(c.churn.stop(), ctx.Err())
}

// ask has a source asked by all of its clients.
func (c *crowd) ask(ctx context.Context, s *source, duration time.Duration) {
	end := time.Now().Add(duration)
	var asking sync.WaitGroup
	for _, one := range c.clients[s] {
		asking.Go(func() { one.run(ctx, end) })
	}
	asking.Wait()
}

// sum adds up what the clients of a source have measured.
func (o *outcome) sum(s *source, all []*client) {
	total := map[kind]*figures{}
	for _, one := range all {
		for kind, f := range one.results {
			if total[kind] == nil {
				total[kind] = &figures{}
			}
			total[kind].add(f)
		}
		if len(o.errs) < few {
			o.errs = append(o.errs, one.wrong...)
		}
	}
	o.asked[s] = total
}
