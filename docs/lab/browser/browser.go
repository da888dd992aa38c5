// Package browser opens the page of X-ray in a real browser, for its tests, which have the build
// tag "browser", and for the pictures of the book.
package browser

import (
	"context"
	"fmt"
	"os"

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
