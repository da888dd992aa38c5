// Package leaktest runs a chapter's server on an API server that fails on
// purpose, and wants neither the token of the one nor the Secrets of the other
// to come out: not on a page, not on a terminal, not in a log.
package leaktest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Chapter is a program that serves, and how to run it.
type Chapter struct {
	Env   string   // makes the test's own program the chapter
	Args  []string // for a server on any free port
	Paths []string // of pages to look at

	// MayShow are paths of pages that may show what is in a Secret. Where there
	// is none, the chapter must not even ask for Secrets.
	MayShow []string
}

// complaint is a part of what the chapter says of a failure, or client-go logs.
var complaint = map[stage]string{atOnce: "server", onLists: "reflector.go", onWatches: "reflector.go"}

// Run runs the chapter through every failure at every stage.
func (c Chapter) Run(t *testing.T) {
	for stage, failures := range map[stage][]failure{
		atOnce:    {unauthorized, forbidden, garbage, half, nobody},
		onLists:   {unauthorized, forbidden, garbage, half},
		onWatches: {unauthorized, forbidden, garbage, half},
	} {
		for _, failure := range failures {
			t.Run(string(stage)+", "+string(failure), func(t *testing.T) {
				t.Parallel()
				server := newAPIServer(t, stage, failure)
				said, pages := c.run(t, server)
				c.judge(t, server, said, pages)
			})
		}
	}
}

// judge looks at what the chapter said, and at its pages.
func (c Chapter) judge(t testing.TB, server *apiServer, said string, pages map[string]string) {
	t.Helper()
	server.mu.Lock()
	defer server.mu.Unlock()
	if !server.tokens || !strings.Contains(said, complaint[server.stage]) {
		t.Errorf("nothing was tested: always with the token: %t; it said\n%s", server.tokens, said)
	}
	for _, secret := range []string{token, content, encoded} {
		if strings.Contains(said, secret) {
			t.Errorf("it said %q:\n%s", secret, said)
		}
		for path, page := range pages {
			if strings.Contains(page, secret) && (secret == token || !slices.Contains(c.MayShow, path)) {
				t.Errorf("%s shows %q:\n%s", path, secret, page)
			}
		}
	}
	isSecrets := func(path string) bool { return strings.HasSuffix(path, "/secrets") }
	if len(c.MayShow) == 0 && slices.ContainsFunc(server.asked, isSecrets) {
		t.Error("it asked for Secrets")
	}
}

// patience is how long the chapter may take.
const patience = 30 * time.Second

// run runs the chapter until it ends, or has met the failure and serves as far
// as it can. It returns what the chapter said, and its pages.
func (c Chapter) run(t testing.TB, server *apiServer) (said string, pages map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out terminal
	cmd := c.command(ctx, t, server)
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // how it ends is not the point
	for there := false; !there; {
		select {
		case <-ended:
			there = true
		case <-time.After(10 * time.Millisecond):
			there = server.stage != atOnce && strings.Contains(out.String(), complaint[server.stage]) &&
				(server.stage == onLists || out.url() != "")
		}
	}
	pages = map[string]string{}
	if url := out.url(); url != "" {
		for _, path := range c.Paths {
			pages[path] = get(ctx, t, url+path)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	<-ended
	if ctx.Err() != nil {
		t.Errorf("it came to no end after %v", patience)
	}
	return out.String(), pages
}

func (c Chapter) command(ctx context.Context, t testing.TB, server *apiServer) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	must(t, os.WriteFile(kubeconfig, []byte(server.kubeconfig()), 0o600))
	cmd := exec.CommandContext(ctx, self, c.Args...)
	cmd.Dir = dir
	cmd.Env = []string{c.Env + "=1", "HOME=" + dir, "KUBECONFIG=" + kubeconfig}
	return cmd
}

// get returns all of a page: its status, its headers, and what is in it.
func get(ctx context.Context, t testing.TB, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	must(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return fmt.Sprintf("%s\n%v\n%s", response.Status, response.Header, body)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A terminal shows what is printed, and what is logged.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *terminal) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func (w *terminal) url() string { return address.FindString(w.String()) }
