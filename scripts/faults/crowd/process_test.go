// How the servers' processes begin, and end with ours.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
)

// role is set in the environment of a process that is to play one.
const role = "CROWD_TEST_ROLE"

// play plays the role that this process was started for, if any.
func play() {
	switch os.Getenv(role) {
	case "server": // it says where it is, and waits for Ctrl-C
		stopped := make(chan os.Signal, 1)
		signal.Notify(stopped, os.Interrupt)
		fmt.Println("  kubectl --kubeconfig F -n informer-abc run\n  curl 'http://127.0.0.1:1/'")
		<-stopped
		os.Exit(0)
	case "silent":
		stopped := make(chan os.Signal, 1)
		signal.Notify(stopped, os.Interrupt)
		<-stopped
		os.Exit(interrupted)
	case "failing":
		fmt.Fprintln(os.Stderr, "one thing\nand another")
		os.Exit(1)
	case "parent": // of a server, whose process it names
		os.Setenv(role, "server")
		self, _ := os.Executable()
		s, err := serve(context.Background(), self, "")
		if err != nil {
			panic(err)
		}
		fmt.Println(s.cmd.Process.Pid)
		select {}
	}
}

func TestAServerSaysWhereItIs(t *testing.T) {
	t.Setenv(role, "server")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve(t.Context(), self, "kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	if s.url != "http://127.0.0.1:1" || s.namespace != "informer-abc" {
		t.Errorf("it serves %q at %q", s.namespace, s.url)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestAServerThatIsNotWaitedFor(t *testing.T) {
	t.Setenv(role, "silent")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := serve(ctx, self, "kubeconfig"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatFails(t *testing.T) {
	t.Setenv(role, "failing")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = serve(t.Context(), self, "kubeconfig")
	if err == nil || !strings.HasSuffix(err.Error(), "ended before it served: exit status 1: and another") {
		t.Errorf("got %v", err)
	}
	if _, err := build(t.Context(), t.TempDir(), "no-such-chapter", t.TempDir()); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("building what is not there: %v", err)
	}
}
