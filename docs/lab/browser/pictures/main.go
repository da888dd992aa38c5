// Command pictures makes the pictures of the X-ray page that the book shows, from a
// real run: it starts chapter 07 on the cluster at hand, presses the buttons in a
// browser, and writes docs/pictures/*.png.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"example.com/informer/docs/lab/browser"
	"example.com/informer/scripts/harness/workspace"
)

// A scene is what is done before a picture is taken.
type scene struct {
	file string
	look browser.Look
	play func(*browser.Page) error
}

var scenes = []scene{
	{"xray", browser.Look{}, busy},
	{"xray-light", browser.Look{Light: true}, busy},
	{"xray-narrow", browser.Look{Width: 390, Height: 844}, busy},
	{"xray-cut", browser.Look{}, cut},
	{"xray-tombstone", browser.Look{}, tombstone},
	{"xray-late", browser.Look{}, late},
	{"xray-stalled", browser.Look{}, stalled},
	{"xray-resync", browser.Look{}, resync},
	{"xray-recreated", browser.Look{}, recreated},
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	to := filepath.Join(root, "docs", "pictures")
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := browser.Build(ctx, dir, "07-shared-informer")
	if err != nil {
		return err
	}
	window, closeIt, err := browser.Open(ctx)
	if err != nil {
		return err
	}
	defer closeIt()
	for _, s := range scenes {
		picture, err := s.take(ctx, program, window)
		if err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		file := filepath.Join(to, s.file+".png")
		if err := errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(file, picture, 0o644)); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// take plays a scene on a program of its own.
func (s scene) take(ctx context.Context, program string, window context.Context) (picture []byte, err error) {
	serving, err := browser.Start(ctx, program, "localhost:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	p, leave, err := browser.Visit(window, serving.URL, s.look)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.play(p); err != nil {
		return nil, err
	}
	return p.Picture()
}

// press presses buttons, one after the other.
func press(p *browser.Page, buttons ...[]string) error {
	for _, b := range buttons {
		if err := p.Press(b[0], b[1:]...); err != nil {
			return err
		}
	}
	return nil
}

func create(n int) (buttons [][]string) {
	for range n {
		buttons = append(buttons, []string{"create"})
	}
	return buttons
}

var (
	relabel = []string{"relabel"}
	stall   = []string{"pace", `[data-handler="slow"]`, `[data-pace="stalled"]`}
	join    = []string{"add", `[data-pace="fast"]`}
)

func busy(p *browser.Page) error {
	return errors.Join(
		press(p, append(create(5), relabel)...),
		press(p, []string{"update", `[data-count="100"]`}),
		p.Until("the slow handler has a backlog", browser.Field("handlers/slow", "waiting")+" > 40"))
}

func cut(p *browser.Page) error {
	return errors.Join(
		press(p, append(create(3), []string{"cut"})...),
		p.Until("the reflector notices", browser.Field("reflector", "doing")+` === "backing off"`),
		press(p, []string{"delete"}),
		p.Until("the caption says so", `document.querySelector("#captions").innerText.includes("cable")`),
		p.Until("all chips have arrived", `!document.querySelector("[data-chip]")`))
}

func tombstone(p *browser.Page) error {
	return errors.Join(cut(p), press(p, []string{"restore"}), backTo(p, "tombstone", "handlers/fast"))
}

func late(p *browser.Page) error {
	return errors.Join(
		press(p, append(create(4), join)...),
		backTo(p, "initial", "handlers/handler-3"))
}

func stalled(p *browser.Page) error {
	return errors.Join(
		press(p, append(create(3), stall, []string{"update", `[data-count="10000"]`})...),
		p.Until("the backlog of client-go's handler is long",
			browser.Field("client-go/handlers/slow", "waiting")+" > 4000"))
}

func resync(p *browser.Page) error {
	return errors.Join(
		press(p, append(create(3), []string{"resync"})...),
		backTo(p, "resync", "handlers/fast"))
}

func recreated(p *browser.Page) error {
	return errors.Join(
		press(p, append(create(2), []string{"cut"})...),
		p.Until("the reflector notices", browser.Field("reflector", "doing")+` === "backing off"`),
		press(p, []string{"recreate"}, []string{"restore"}),
		backTo(p, "update", "store"),
		p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[data-chip]").click()`)),
		p.Until("the diff is shown", `document.querySelector("#panel-body .minus")`))
}

// backTo waits for a change to reach a station, pauses, and goes back to the moment
// in which it travels there.
func backTo(p *browser.Page, change, station string) error {
	chip := fmt.Sprintf(`[data-chip][data-change="%s"][data-to="%s"]`, change, station)
	if err := errors.Join(
		p.Until("a chip has gone to "+station, browser.Seen(station+" "+change)),
		p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#pause").click()`))); err != nil {
		return err
	}
	for range 300 {
		found, err := browser.Eval[bool](p, fmt.Sprintf("Boolean(document.querySelector(`%s`))", chip))
		if err != nil {
			return err
		}
		if found {
			return p.Until("the caption follows", fmt.Sprintf("document.querySelector('#caption').innerText"+
				".includes(document.querySelector(`%s`).dataset.key.split('/').pop())", chip))
		}
		if err := p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#back").click()`)); err != nil {
			return err
		}
		if err := p.Do(chromedp.Evaluate[chromedp.Void](
			`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`,
			chromedp.EvalAwaitPromise)); err != nil {
			return err
		}
	}
	return fmt.Errorf("no %s has travelled to %s", change, station)
}
