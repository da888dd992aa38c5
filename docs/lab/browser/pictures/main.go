// Command pictures makes the pictures of the book: those of the X-ray page, docs/pictures/*.png, for
// which it starts X-ray on the cluster at hand, and presses the buttons in a browser; that of
// the reading room; and those of the diagrams, docs/pictures/*.svg.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"example.com/informer/docs/lab/browser"
	"example.com/informer/scripts/harness/workspace"
)

const usage = `usage:
  scripts/pictures.sh            make all pictures: docs/pictures/*.png, and the diagrams
  scripts/pictures.sh diagrams   make the diagrams that are missing, docs/pictures/*.svg, and
                                 remove those that no page has any more; needs no cluster
  scripts/pictures.sh reader     make docs/pictures/reader.png; needs no cluster
  scripts/pictures.sh xray       make docs/pictures/xray*.png, on the cluster that is there
`

// parts are the kinds of pictures, by the argument that makes one of them alone.
var parts = map[string]func(context.Context) error{
	"diagrams": drawDiagrams, "reader": takeReader, "xray": takeXRay,
}

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	steps := []func(context.Context) error{drawDiagrams, takeReader, takeXRay}
	part, isPart := parts[flag.Arg(0)]
	switch {
	case flag.NArg() == 1 && isPart:
		steps = []func(context.Context) error{part}
	case flag.NArg() > 0:
		fmt.Fprintf(os.Stderr, "pictures: unknown arguments %q\n%s", flag.Args(), usage)
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	for _, step := range steps {
		if err := step(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "pictures:", err)
			os.Exit(1)
		}
	}
}

// takeXRay takes all pictures of X-ray, and writes them into docs/pictures.
func takeXRay(ctx context.Context) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := browser.Build(ctx, dir, "docs/xray")
	if err != nil {
		return err
	}
	window, closeBrowser, err := browser.Open(ctx)
	if err != nil {
		return err
	}
	defer closeBrowser()
	for _, p := range pictures {
		image, err := p.take(ctx, program, window)
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		file := filepath.Join(root, "docs", "pictures", p.file+".png")
		if err := os.WriteFile(file, image, 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// take starts a program for this picture alone, does the tasks, and returns the picture as PNG.
func (p picture) take(ctx context.Context, program string, window context.Context) (image []byte, err error) {
	serving, err := browser.Start(ctx, program, "localhost:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	page, closePage, err := browser.Visit(window, serving.URL, p.display)
	if err != nil {
		return nil, err
	}
	defer closePage()
	if err := inOrder(p.tasks...)(page); err != nil {
		return nil, err
	}
	if p.crop == "" {
		return page.Screenshot()
	}
	return croppedScreenshot(page, p.crop, p.outline)
}
