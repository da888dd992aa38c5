// Command reader is the reading room: it shows the book in a browser, on this machine alone. Its
// usage says how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"example.com/informer/scripts/harness/web"
	"example.com/informer/scripts/harness/workspace"
)

const usage = `usage: scripts/read.sh [-no-browser]

It shows the book in your browser, from the files of this clone: change one, and the page follows.
The page changes a file only if you press Start or Reset of an exercise.
It listens on 127.0.0.1 only, on port 4100 or the next free one, until Ctrl-C.
If the book of this clone is shown already, it leads there. What it keeps of you, such as where you
are, is in the folder .reader, which git ignores.

  -no-browser   only print the address
`

const (
	firstPort = 4100
	lastPort  = 4199
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	err := read(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.As(err, new(usageError)):
		fmt.Fprintf(os.Stderr, "read: %v\n%s", err, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "read:", err)
		os.Exit(1)
	}
}

// A usageError says what is wrong with the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// read shows the book until ctx ends.
func read(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("read", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the usage
	noBrowser := flags.Bool("no-browser", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprint(stdout, usage)
		return err
	case err != nil:
		return usageError(err.Error())
	case flags.NArg() > 0:
		return usageError(fmt.Sprintf("unknown arguments %q", flags.Args()))
	}
	root, err := workspace.Clone(".")
	if err != nil {
		return err
	}
	clone, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer clone.Close()
	if address := otherReader(ctx, clone); address != "" {
		fmt.Fprintf(stdout, "The book of this clone is shown already, at %s\n"+
			"Ctrl-C in the terminal where scripts/read.sh runs ends that.\n", address)
		if !*noBrowser {
			waitFor(ctx, openBrowser(address, stdout))
		}
		return nil
	}
	room, err := newReader(ctx, root)
	if err != nil {
		return err
	}
	defer func() {
		room.close()
		if room.startedCluster.Load() {
			fmt.Fprintln(stdout, "The cluster that was started here is still there: scripts/local-down.sh ends it.")
		}
	}()
	server, address, err := serve(ctx, room)
	if err != nil {
		return err
	}
	defer publish(clone, address)()
	fmt.Fprintf(stdout, "The book is at %s\nCtrl-C ends this.\n", address)
	if !*noBrowser {
		openBrowser(address, stdout)
	}
	return server.Wait()
}

// serve serves the pages on the first port that is free. The address has the token in it.
func serve(ctx context.Context, r *reader) (server *web.Server, address string, err error) {
	for port := firstPort; port <= lastPort; port++ {
		token := web.NewToken(cookieName(strconv.Itoa(port)),
			"open the address that scripts/read.sh has printed; if you do not see it any more, run scripts/read.sh "+
				"again, which leads there")
		server, err = web.Start(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), r.pages(), token.Check)
		switch {
		case err == nil:
			return server, token.Address(server.URL()), nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("all ports from %d to %d are in use: %w", firstPort, lastPort, err)
}

// openBrowser opens an address with the program of the system that does so. Where there is none, as
// on a server, or no browser, it says so. The channel is closed when that program has ended.
func openBrowser(address string, stdout io.Writer) (ended <-chan struct{}) {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	command := exec.Command(name, address)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the reader
	done := make(chan struct{})
	go func() {
		defer close(done)
		if command.Run() != nil {
			fmt.Fprintln(stdout, "No browser could be opened from here: open the address yourself.")
		}
	}()
	return done
}

// waitFor waits until a program that opens a browser has ended. It may stay as long as the browser:
// then it is left alone after a while.
func waitFor(ctx context.Context, ended <-chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
