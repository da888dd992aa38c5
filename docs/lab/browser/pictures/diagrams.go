// The pictures of diagrams.

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"example.com/informer/docs/book"
	"example.com/informer/docs/lab/browser"
	"example.com/informer/scripts/harness/workspace"
)

// mermaid draws the diagrams, as it does on GitHub.
const mermaid = "mermaid@12.3.0"

//go:embed draw.js
var draw string

// drawDiagrams draws the diagrams that have no picture, and removes the pictures that no page has.
func drawDiagrams(ctx context.Context) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	b, err := book.Load(os.DirFS(root))
	if err != nil {
		return err
	}
	needed, surplus := b.DiagramFiles()
	for _, file := range surplus {
		if err := os.Remove(filepath.Join(root, file)); err != nil {
			return err
		}
		fmt.Println("removed:", file)
	}
	maps.DeleteFunc(needed, func(file, _ string) bool {
		_, err := os.Stat(filepath.Join(root, file))
		return err == nil
	})
	if len(needed) == 0 {
		return nil
	}
	page, closePage, err := openMermaid(ctx)
	if err != nil {
		return err
	}
	defer closePage()
	for _, file := range slices.Sorted(maps.Keys(needed)) {
		source, _ := json.Marshal(needed[file]) // it never fails: it is a text
		svg, err := browser.Eval[string](page, fmt.Sprintf("draw(%s)", source))
		if err != nil {
			return fmt.Errorf("drawing the diagram %s: %w", needed[file], err)
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte(svg+"\n"), 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// openMermaid opens an empty page, and loads mermaid.
func openMermaid(ctx context.Context) (page *browser.Page, closeAll func(), err error) {
	script, err := browser.Script(ctx, mermaid, "dist/mermaid.min.js")
	if err != nil {
		return nil, nil, err
	}
	window, closeBrowser, err := browser.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	page, closePage, err := browser.Load(window, "about:blank", browser.Display{Light: true})
	if err != nil {
		closeBrowser()
		return nil, nil, err
	}
	closeAll = func() {
		closePage()
		closeBrowser()
	}
	for _, text := range []string{script, draw} {
		if err := page.Run(text + "; 0"); err != nil {
			closeAll()
			return nil, nil, err
		}
	}
	return page, closeAll, nil
}
