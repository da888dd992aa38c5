// Command pictures makes the pictures of the X-ray page that the book shows, from a
// real run: it starts chapter 07 on the cluster at hand, presses the buttons in a
// browser, and writes docs/pictures/*.png.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/signal"
	"path/filepath"

	"example.com/informer/docs/lab/browser"
	"example.com/informer/scripts/harness/workspace"
)

// A move is one thing that is done in a scene.
type move func(*browser.Page) error

func press(action string, more ...string) move {
	return func(p *browser.Page) error { return p.Press(action, more...) }
}

func until(what, condition string) move {
	return func(p *browser.Page) error { return p.Until(what, condition) }
}

var (
	create  = press("create")
	notices = until("the reflector notices", browser.Field("reflector", "doing")+` === "backing off"`)

	busy = []move{
		create, create, create, create, create, press("relabel"), press("update", `[data-count="100"]`),
		until("the slow handler has a backlog", browser.Field("handlers/slow", "waiting")+" > 40"),
	}
	cut = []move{
		create, create, create, press("cut"), notices, press("delete"),
		until("the caption says so", `document.querySelector("#captions").innerText.includes("cable")`),
		until("all chips have arrived", `!document.querySelector("[data-chip]")`),
	}
)

// What a picture is cut down to, from its top to its bottom, as selectors.
const (
	ours  = `.lane.ours, [data-station="log"], #handlers`
	both  = "#stage"
	panel = "#panel-title, #panel-body .plus"
)

// A scene is what is done before a picture is taken.
type scene struct {
	file  string
	look  browser.Look
	moves []move
	shows string // what it is cut down to; all of it if empty
	mark  string // a selector: what has a frame around it
}

var scenes = []scene{
	{"xray", browser.Look{}, busy, "", ""},
	{"xray-light", browser.Look{Light: true}, busy, "", ""},
	{"xray-narrow", browser.Look{Width: 390, Height: 844}, busy, "", ""},
	{"xray-cut", browser.Look{}, cut, ours, `[data-station="server"] dl, [data-station="reflector"] .box`},
	{"xray-tombstone", browser.Look{}, append(cut, press("restore"), backTo("tombstone", "handlers/fast")), ours,
		`[data-chip][data-change="tombstone"]`},
	{"xray-late", browser.Look{}, []move{create, create, create, create, press("add", `[data-pace="fast"]`),
		backTo("initial", "handlers/handler-3")}, ours, `[data-station="handlers/handler-3"]`},
	{"xray-stalled", browser.Look{}, []move{create, create, create,
		press("pace", `[data-handler="slow"]`, `[data-pace="stalled"]`), press("update", `[data-count="10000"]`),
		until("the backlog of client-go's handler is long",
			browser.Field("client-go/handlers/slow", "waiting")+" > 4000")}, both,
		`[data-station="handlers/slow"], [data-station="client-go/handlers/slow"]`},
	{"xray-resync", browser.Look{}, []move{create, create, create, press("resync"),
		backTo("resync", "handlers/fast")}, ours, `[data-chip][data-change="resync"]`},
	{"xray-recreated", browser.Look{}, []move{create, create, press("cut"), notices, press("recreate"),
		press("restore"), backTo("update", "store"), run(`document.querySelector("[data-chip]").click()`),
		until("the diff is shown", `document.querySelector("#panel-body .minus")`)}, panel,
		`[data-chip][data-change="update"]`},
}

func run(script string) move {
	return func(p *browser.Page) error { return p.Run(script) }
}

// backTo waits for a change to reach a station, pauses, and goes back to the moment
// in which it travels there.
func backTo(change, station string) move {
	chip := fmt.Sprintf("document.querySelector('[data-chip][data-change=%q][data-to=%q]')", change, station)
	return all(
		until("a chip has gone to "+station, browser.Seen(station+" "+change)),
		run(fmt.Sprintf(`(async () => {
			document.querySelector("#pause").click();
			for (let steps = 0; steps < 300 && !%s; steps++) {
				document.querySelector("#back").click();
				await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
			}
		})()`, chip)),
		until("the caption follows", fmt.Sprintf(
			`document.querySelector("#caption").innerText.includes(%s.dataset.key.split("/").pop())`, chip)))
}

// all makes moves one after the other.
func all(moves ...move) move {
	return func(p *browser.Page) error {
		for _, m := range moves {
			if err := m(p); err != nil {
				return err
			}
		}
		return nil
	}
}

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: scripts/pictures.sh\n\nIt writes docs/pictures/*.png.")
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "pictures: it takes no argument, and got %q\n", flag.Args())
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := takeAll(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func takeAll(ctx context.Context) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
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
		file := filepath.Join(root, "docs", "pictures", s.file+".png")
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// take makes moves on a program of its own.
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
	if err := all(s.moves...)(p); err != nil {
		return nil, err
	}
	if s.shows == "" {
		return p.Picture()
	}
	// How far the elements reach, and a frame around each that is marked.
	edges, err := browser.Eval[[]float64](p, fmt.Sprintf(`(() => {
		for (const marked of document.querySelectorAll(%q)) {
			marked.style.outline = "3px solid #f0883e";
			marked.style.outlineOffset = "4px";
		}
		const all = [...document.querySelectorAll(%q)].map((shown) => shown.getBoundingClientRect());
		return [Math.min(...all.map((at) => at.top)) - 8, Math.max(...all.map((at) => at.bottom)) + 12];
	})()`, s.mark, s.shows))
	picture, pictureErr := p.Picture()
	whole, decodeErr := png.Decode(bytes.NewReader(picture))
	if err := errors.Join(err, pictureErr, decodeErr); err != nil {
		return nil, err
	}
	part := whole.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(image.Rect(0, int(edges[0]), whole.Bounds().Dx(), int(edges[1])))
	var cut bytes.Buffer
	err = png.Encode(&cut, part)
	return cut.Bytes(), err
}
