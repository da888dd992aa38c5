// Package browser opens the pages of X-ray and of the reading room in a real browser, for their
// tests, which have the build tag "browser", and for the pictures of the book.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// Open starts a browser. The caller closes it.
func Open(ctx context.Context) (browser context.Context, closeBrowser func(), err error) {
	options := chromedp.DefaultExecAllocatorOptions[:]
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // as root, chromium does not start with its sandbox
	}
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, cancel := chromedp.NewContext(ctx)
	closeBrowser = func() {
		_ = chromedp.Cancel(browser) // it waits for the end
		cancel()
		cancelAllocator()
	}
	if err := chromedp.Do(browser); err != nil {
		closeBrowser()
		return nil, nil, fmt.Errorf("starting a browser: %w: install chromium, or Chrome", err)
	}
	return browser, closeBrowser, nil
}

// Script returns the text of a file of a package from npm, such as "axe-core@4.14.0".
func Script(ctx context.Context, module, file string) (string, error) {
	dir, err := os.MkdirTemp("", "npm")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	archive := strings.ReplaceAll(module, "@", "-") + ".tgz"
	for _, command := range [][]string{
		{"npm", "pack", "--silent", module}, {"tar", "xzf", archive, "package/" + file},
	} {
		run := exec.CommandContext(ctx, command[0], command[1:]...)
		run.Dir = dir
		if output, err := run.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, output)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "package", filepath.FromSlash(file)))
	return string(text), err
}
