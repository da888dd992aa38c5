// The picture of the reading room.

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"example.com/informer/docs/lab/browser"
	"example.com/informer/scripts/harness/workspace"
)

// takeReader takes the picture of the reading room: a step has run, its code is beside the text.
func takeReader(ctx context.Context) (err error) {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := browser.Build(ctx, dir, "docs/reader")
	if err != nil {
		return err
	}
	serving, err := browser.StartReader(ctx, program, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	window, closeBrowser, err := browser.Open(ctx)
	if err != nil {
		return err
	}
	defer closeBrowser()
	page, closePage, err := browser.Load(window, serving.URL, browser.Display{Width: 1440, Height: 810, Light: true})
	if err != nil {
		return err
	}
	defer closePage()
	image, err := reading(page, serving.URL)
	if err != nil {
		return fmt.Errorf("reader: %w", err)
	}
	file := filepath.Join(root, "docs", "pictures", "reader.png")
	fmt.Println(file)
	return os.WriteFile(file, image, 0o644)
}

// reading runs the step of the prologue, opens its code, and returns the picture as PNG.
func reading(page *browser.Page, address string) ([]byte, error) {
	prologue, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	prologue.Path, prologue.RawQuery = "/docs/prologue.md", ""
	const (
		transcript = `figure[data-run="01-deltafifo/testdata/informer.txt"]`
		code       = `figure[data-file="01-deltafifo/step_informer.go"] a.source`
	)
	err = inOrder(
		func(page *browser.Page) error { return page.Do(chromedp.Navigate(prologue.String())) },
		until("the page is watched", `document.body.dataset.watching`),
		run(`document.documentElement.dataset.theme = "light"`), // whatever was chosen in this clone
		run(fmt.Sprintf(`document.querySelector('%s [data-do="run"]').click()`, transcript)),
		until("the step has run", fmt.Sprintf(`document.querySelector('%s .status.good')`, transcript)),
		run(fmt.Sprintf(`document.querySelector('%s').click()`, code)),
		until("the code is beside the text", `document.querySelector("#panel .line.marked")`),
		run(fmt.Sprintf(`document.activeElement.blur();
			document.querySelector('%s').scrollIntoView({ block: "center", behavior: "instant" })`, transcript)),
	)(page)
	if err != nil {
		return nil, err
	}
	return page.View()
}
