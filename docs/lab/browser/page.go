// A page in a tab of the browser.

package browser

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is how long the page may take to show something.
const patience = time.Minute

// hangTime ends what would hang: nothing takes so long, even on a slow machine.
const hangTime = 5 * time.Minute

// A Display is the window and the preferences of somebody who looks at the page.
type Display struct {
	Width, Height int64 // default: 1280 x 900
	Light         bool  // default: dark colours
	ReducedMotion bool  // the user prefers reduced motion
}

// A Page is a page in a tab of a browser.
type Page struct {
	ctx       context.Context
	listening sync.WaitGroup

	mu         sync.Mutex
	complaints []string
}

// Visit opens the page of X-ray in a window of its own, and waits until events come. The caller
// closes it.
func Visit(browser context.Context, address string, display Display) (p *Page, closePage func(), err error) {
	p, closePage, err = Load(browser, address, display)
	if err != nil {
		return nil, nil, err
	}
	if err := p.awaitEvents(); err != nil {
		closePage()
		return nil, nil, err
	}
	return p, closePage, nil
}

// Load opens an address in a window of its own. The caller closes it.
func Load(browser context.Context, address string, display Display) (p *Page, closePage func(), err error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p = &Page{ctx: ctx}
	closePage = func() {
		cancel()
		p.listening.Wait()
	}
	p.listen(target.Host)
	if err := p.load(address, display); err != nil {
		closePage()
		return nil, nil, err
	}
	return p, closePage, nil
}

func (p *Page) load(address string, display Display) error {
	if _, err := chromedp.Call(p.ctx, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	if err := p.setDisplay(display); err != nil {
		return err
	}
	return p.Do(chromedp.Navigate(address))
}

// awaitEvents waits until the page of X-ray shows events.
func (p *Page) awaitEvents() error {
	if err := p.Run(noteChips); err != nil {
		return err
	}
	if err := p.Until("events come", `document.body.dataset.stream === "open"`); err != nil {
		return err
	}
	return p.Until("the stations are drawn", Field("handlers/fast", "calls")+` !== ""`)
}

func (p *Page) setDisplay(display Display) error {
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	if display.Light {
		features[0].Value = "light"
	}
	if display.ReducedMotion {
		features = append(features, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
	}
	params := emulation.SetEmulatedMediaParams{Features: features}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params); err != nil {
		return err
	}
	return p.Do(chromedp.EmulateViewport(cmp.Or(display.Width, 1280), cmp.Or(display.Height, 900)))
}

// listen collects complaints: errors and warnings on the console, and requests to another host.
func (p *Page) listen(host string) {
	collect(p, chromedp.Console(p.ctx), func(m chromedp.ConsoleMessage) string {
		if t := string(m.Type); t == "error" || t == "warning" || m.Type == chromedp.ConsoleException {
			return fmt.Sprintf("%s: %s %s", m.Type, m.Text, m.URL)
		}
		return ""
	})
	collect(p, chromedp.Events(p.ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) string {
		if to, err := url.Parse(e.Request.URL); err != nil || to.Host != host && to.Scheme != "data" {
			return "a request to another host: " + e.Request.URL
		}
		return ""
	})
}

// collect collects the complaints about events of a tab, until the tab is closed. complain returns
// "" for an event that is all right.
func collect[E any](p *Page, events iter.Seq2[E, error], complain func(E) string) {
	p.listening.Go(func() {
		for event, err := range events {
			if err != nil {
				return // the tab is closed
			}
			if text := complain(event); text != "" {
				p.mu.Lock()
				p.complaints = append(p.complaints, text)
				p.mu.Unlock()
			}
		}
	})
}

// TakeComplaints returns what the browser has complained about since the last call: errors and
// warnings on the console, and requests to another host.
func (p *Page) TakeComplaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	complaints := p.complaints
	p.complaints = nil
	return complaints
}

// noteChips notes which chips have been on the page, as "from to change name".
const noteChips = `window.seenChips = new Set();
	new MutationObserver(() => {
		for (const { dataset: d } of document.querySelectorAll("[data-chip]")) {
			seenChips.add([d.from, d.to, d.change, d.key.split("/").pop()].join(" "));
		}
	}).observe(document.body, { subtree: true, childList: true, attributes: true })`

// ChipSeen returns a condition in JavaScript: a chip was on the page that was noted with these
// words, which are a part of "from to change name".
func ChipSeen(words string) string {
	return fmt.Sprintf(`[...seenChips].some(chip => (" " + chip + " ").includes(" %s "))`, words)
}

// Field returns an expression in JavaScript: the value of a field of a station, as a string.
func Field(station, field string) string {
	return fmt.Sprintf(`(document.querySelector('[data-station="%s"] [data-field="%s"]')?.dataset.value ?? "")`,
		station, field)
}

// Do does actions of chromedp in the tab.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) error {
	_, err := act(p, chromedp.Steps(actions...))
	return err
}

// act does an action in the tab. Without a deadline, the click on a button that stays hidden, or the
// load of a page that never ends, would wait until the end of all tests.
func act[T any](p *Page, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, hangTime)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// Run runs JavaScript. If the result is a promise, Run waits for it.
func (p *Page) Run(script string) error {
	return p.Do(chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise))
}

// Eval returns the value of an expression in JavaScript. If it is a promise, Eval waits for its
// result.
func Eval[T any](p *Page, expression string) (T, error) {
	value, err := act(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("evaluating %s: %w", expression, err)
	}
	return value, err
}

// Until waits until a condition in JavaScript is true, even while the tab goes from one page to the
// next. what describes the condition in an error.
func (p *Page) Until(what, condition string) error { return p.untilIn(patience, what, condition) }

func (p *Page) untilIn(patience time.Duration, what, condition string) error {
	var last error // of the condition: it may be about an element that does not exist yet
	err := wait.PollUntilContextTimeout(p.ctx, 50*time.Millisecond, patience, true,
		func(context.Context) (isTrue bool, _ error) {
			isTrue, last = Eval[bool](p, "Boolean("+condition+")")
			return isTrue, nil
		})
	if err != nil {
		text, _ := Eval[string](p, `location.href + "\n" + document.body.innerText`)
		return fmt.Errorf("waiting until %s (%s): %w; the page says:\n%s", what, condition, cmp.Or(last, err), text)
	}
	return nil
}

// Click scrolls an element to the middle of the window, where nothing covers it, and clicks it.
func (p *Page) Click(selector string) error {
	scroll := fmt.Sprintf(`document.querySelector('%s').scrollIntoView({block: "center", behavior: "instant"})`,
		selector)
	if err := p.Run(scroll); err != nil {
		return err
	}
	return p.Do(chromedp.Click(chromedp.CSS(selector)))
}

// Press presses the button of an action, and waits until the program has done the action. More
// attributes choose between several buttons, such as [data-handler="slow"].
func (p *Page) Press(action string, attributes ...string) error {
	selector := fmt.Sprintf(`[data-action="%s"]%s`, action, strings.Join(attributes, ""))
	enabled := fmt.Sprintf(`document.querySelector('%s:not([aria-disabled="true"])')`, selector)
	if err := p.Until("the button "+selector+" can be pressed", enabled); err != nil {
		return err
	}
	if err := p.Run(`document.querySelector("#said").textContent = ""`); err != nil {
		return err
	}
	if err := p.Click(selector); err != nil {
		return err
	}
	return p.Until("the program has done "+action,
		`document.querySelector("#said").textContent && !document.querySelector("#said.error")`)
}

// Screenshot returns a PNG of the window, from the top of the page.
func (p *Page) Screenshot() ([]byte, error) {
	if err := p.Run(`scrollTo(0, 0)`); err != nil {
		return nil, err
	}
	return p.View()
}

// View returns a PNG of what the window shows now.
func (p *Page) View() ([]byte, error) { return act(p, chromedp.CaptureScreenshot()) }
