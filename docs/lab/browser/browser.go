// Package browser looks at the page of chapter 07's step xray with a real browser:
// for its tests, which have the build tag "browser", and for its pictures.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience is how long the page may take to show something.
const patience = time.Minute

// Open starts a browser, which ends when it is closed.
func Open(ctx context.Context) (browser context.Context, closeIt func(), err error) {
	options := chromedp.DefaultExecAllocatorOptions[:]
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // chromium does not start as root with it
	}
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, cancel := chromedp.NewContext(ctx)
	closeIt = func() {
		_ = chromedp.Cancel(browser) // it waits for the end
		cancel()
		cancelAllocator()
	}
	if err := chromedp.Do(browser); err != nil {
		closeIt()
		return nil, nil, fmt.Errorf("starting a browser: %w: install chromium, or Chrome", err)
	}
	return browser, closeIt, nil
}

// A Look is how somebody looks at the page.
type Look struct {
	Width, Height int64 // default: 1280 x 900
	Light         bool  // the colours; default: dark
	Still         bool  // the user prefers reduced motion
}

// A Page is a tab, and what went wrong in it.
type Page struct {
	ctx   context.Context
	ended sync.WaitGroup

	mu    sync.Mutex
	wrong []string
}

// Visit opens an address in a window of its own, and waits until events come.
func Visit(browser context.Context, address string, look Look) (p *Page, leave func(), err error) {
	own, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p = &Page{ctx: ctx}
	leave = func() { cancel(); p.ended.Wait() }
	listen(p, chromedp.Console(ctx), func(m chromedp.ConsoleMessage) string {
		if t := string(m.Type); t == "error" || t == "warning" || m.Type == chromedp.ConsoleException {
			return fmt.Sprintf("%s: %s %s", m.Type, m.Text, m.URL)
		}
		return ""
	})
	listen(p, chromedp.Events(ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) string {
		if to, err := url.Parse(e.Request.URL); err != nil || to.Host != own.Host && to.Scheme != "data" {
			return "a request to another host: " + e.Request.URL
		}
		return ""
	})
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	err = errors.Join(err, p.setLook(look), p.Do(chromedp.Navigate(address)), p.Run(noteChips),
		p.Until("events come", `document.body.dataset.stream === "open"`),
		p.Until("the stations are drawn", Field("handlers/fast", "calls")+` !== ""`))
	if err != nil {
		leave()
		return nil, nil, err
	}
	return p, leave, nil
}

// noteChips notes which chips have been on the page, as "from to change name".
const noteChips = `window.seenChips = new Set();
	new MutationObserver(() => {
		for (const { dataset: d } of document.querySelectorAll("[data-chip]")) {
			seenChips.add([d.from, d.to, d.change, d.key.split("/").pop()].join(" "));
		}
	}).observe(document.body, { subtree: true, childList: true, attributes: true })`

// Seen is, in JavaScript, whether a chip was on the page: what it was noted as begins
// or ends with these words, or has them in the middle.
func Seen(words string) string {
	return fmt.Sprintf(`[...seenChips].some(chip => (" " + chip + " ").includes(" %s "))`, words)
}

// listen notes what is wrong about the events of a tab.
func listen[E any](p *Page, events iter.Seq2[E, error], wrong func(E) string) {
	p.ended.Go(func() {
		for event, err := range events {
			if err != nil {
				return // the tab has gone
			}
			if text := wrong(event); text != "" {
				p.mu.Lock()
				p.wrong = append(p.wrong, text)
				p.mu.Unlock()
			}
		}
	})
}

// Wrong is what the browser has complained of since the last call: errors and
// warnings on the console, and requests to another host.
func (p *Page) Wrong() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	wrong := p.wrong
	p.wrong = nil
	return wrong
}

func (p *Page) setLook(look Look) error {
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	if look.Light {
		features[0].Value = "light"
	}
	if look.Still {
		features = append(features, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	return errors.Join(err, p.Do(chromedp.EmulateViewport(cmp.Or(look.Width, 1280), cmp.Or(look.Height, 900))))
}

// Do does things in the tab.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) error {
	return chromedp.Do(p.ctx, actions...)
}

// Run runs JavaScript; a promise, until it is kept.
func (p *Page) Run(script string) error {
	return p.Do(chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise))
}

// Eval returns the value of an expression in JavaScript; of a promise, its result.
func Eval[T any](p *Page, expression string) (T, error) {
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("evaluating %s: %w", expression, err)
	}
	return value, err
}

// Until waits until a condition in JavaScript holds.
func (p *Page) Until(what, condition string) error {
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool]("Boolean("+condition+")",
		chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		says, _ := Eval[string](p, `document.querySelector("main").innerText`)
		return fmt.Errorf("waiting until %s (%s): %w; the page says:\n%s", what, condition, err, says)
	}
	return nil
}

// Field is, in JavaScript, the value of a field of a station, as a string.
func Field(station, field string) string {
	return fmt.Sprintf(`(document.querySelector('[data-station="%s"] [data-field="%s"]')?.dataset.value ?? "")`,
		station, field)
}

// Click brings an element to the middle of the window, where nothing covers it, and
// clicks it.
func (p *Page) Click(selector string) error {
	return errors.Join(
		p.Run(fmt.Sprintf(`document.querySelector('%s').scrollIntoView({block: "center", behavior: "instant"})`,
			selector)),
		p.Do(chromedp.Click(chromedp.CSS(selector))))
}

// Press presses the button of an action, and waits until the program has done it.
// More narrows it down, such as [data-handler="slow"].
func (p *Page) Press(action string, more ...string) error {
	selector := fmt.Sprintf(`[data-action="%s"]%s`, action, strings.Join(more, ""))
	return errors.Join(
		p.Until("the button "+selector+" can be pressed",
			fmt.Sprintf(`document.querySelector('%s:not([aria-disabled="true"])')`, selector)),
		p.Run(`document.querySelector("#said").textContent = ""`),
		p.Click(selector),
		p.Until("the program has done "+action,
			`document.querySelector("#said").textContent && !document.querySelector("#said.error")`))
}

// Picture is a PNG of what the window shows.
func (p *Page) Picture() ([]byte, error) {
	if err := p.Run(`scrollTo(0, 0)`); err != nil {
		return nil, err
	}
	return chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
}
