//go:build browser

// What the journeys share: a browser, copies of the workspace, and somebody who looks at a page.

package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

var (
	programs      string          // the folder of the two programs, and of the copy of the workspace
	xrayProgram   string          // X-ray
	readerProgram string          // the reading room
	browser       context.Context // all tests use this browser
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if programs, err = os.MkdirTemp("", "browser"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(programs)
	if xrayProgram, err = Build(context.Background(), programs, "docs/xray"); err != nil {
		return 1, err
	}
	if readerProgram, err = Build(context.Background(), programs, "docs/reader"); err != nil {
		return 1, err
	}
	var closeBrowser func()
	if browser, closeBrowser, err = Open(context.Background()); err != nil {
		return 1, err
	}
	defer closeBrowser()
	return m.Run(), nil
}

// A visitor looks at a page. What the visitor cannot do or does not see ends the test.
type visitor struct {
	*Page
	t *testing.T
}

// newVisitor takes a page over. At the end of the test the browser must have no complaint about it.
func newVisitor(t *testing.T, p *Page, closePage func()) *visitor {
	t.Cleanup(func() {
		closePage()
		for _, complaint := range p.TakeComplaints() {
			t.Errorf("the browser complains: %s", complaint)
		}
	})
	return &visitor{Page: p, t: t}
}

// until waits for a condition.
func (v *visitor) until(what, condition string) {
	v.t.Helper()
	must.NoError(v.t, v.Until(what, condition))
}

// untilMinutes is until for minutes, for what begins with the compilation of a program, or where the
// time depends on the machine and not on the page.
func (v *visitor) untilMinutes(what, condition string) {
	v.t.Helper()
	must.NoError(v.t, v.untilIn(8*time.Minute, what, condition))
}

// eval returns the value of an expression.
func eval[T any](v *visitor, expression string) T {
	v.t.Helper()
	value, err := Eval[T](v.Page, expression)
	must.NoError(v.t, err)
	return value
}

func (v *visitor) run(script string) {
	v.t.Helper()
	must.NoError(v.t, v.Run(script))
}

func (v *visitor) click(selector string) {
	v.t.Helper()
	must.NoError(v.t, v.Click(selector))
}

// press presses a key.
func (v *visitor) press(key string, options ...chromedp.KeyOption) {
	v.t.Helper()
	must.NoError(v.t, v.Do(chromedp.KeyEvent(key, options...)))
}

// fits checks that nobody has to scroll sideways.
func (v *visitor) fits() {
	v.t.Helper()
	content := eval[int](v, `document.documentElement.scrollWidth`)
	if window := eval[int](v, `document.documentElement.clientWidth`); content > window {
		v.t.Errorf("%s is %d pixels wide, want at most %d, as wide as the window",
			eval[string](v, "location.pathname"), content, window)
	}
}

// A room is the reading room, with somebody in it.
type room struct {
	*visitor
	clone clone
}

// enter starts the reading room for a copy of the workspace, and opens a page of it.
func enter(t *testing.T, page string, display Display) *room {
	t.Helper()
	c := newClone(t)
	return visitRoom(t, c, serveBook(t, c), page, display)
}

// serveBook starts the reading room for a test.
func serveBook(t *testing.T, c clone) *Program {
	t.Helper()
	program, err := StartReader(context.WithoutCancel(t.Context()), readerProgram, c.folder)
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, program.Stop()) })
	return program
}

// visitRoom opens a page of a reading room. The page notes in `said` what the figures have said.
func visitRoom(t *testing.T, c clone, program *Program, path string, display Display) *room {
	t.Helper()
	p, closePage, err := Load(browser, program.URL, display)
	must.NoError(t, err)
	r := &room{newVisitor(t, p, closePage), c}
	r.at("/docs/README.md")
	_, err = chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.said = new Set();
			new MutationObserver(() => document.querySelectorAll(".status").forEach(s => said.add(s.textContent))).
				observe(document, { subtree: true, childList: true })`,
	})
	must.NoError(t, err)
	r.open(path)
	return r
}

// open opens a page of the same server.
func (r *room) open(path string) {
	r.t.Helper()
	must.NoError(r.t, r.Do(chromedp.Navigate(eval[string](r.visitor, "location.origin")+path)))
	r.until("the page is ready", `document.body.dataset.ready`)
}

// at waits until a page is shown.
func (r *room) at(path string) {
	r.t.Helper()
	r.until(path+" is shown", fmt.Sprintf(`location.pathname === %q && document.body.dataset.ready`, path))
}

// watched waits until the page follows what changes in the workspace.
func (r *room) watched() {
	r.t.Helper()
	r.until("the page is watched", `document.body.dataset.watching`)
}

// takeComplaintsOfRequests takes the complaints of a browser that logs each request that fails.
func (r *room) takeComplaintsOfRequests() {
	r.t.Helper()
	for _, complaint := range r.TakeComplaints() {
		if strings.HasPrefix(complaint, "exception") {
			r.t.Errorf("the browser complains: %s", complaint)
		}
	}
}

// A clone is a copy of the workspace that a test may change. All tests have it in the same place, one
// after the other, so that the compiler knows what it has built.
type clone struct {
	t      *testing.T
	folder string
}

// newClone copies the files that git tracks into a repository of their own, which the practice tool
// needs.
func newClone(t *testing.T) clone {
	t.Helper()
	root, err := workspace.Root(".")
	must.NoError(t, err)
	c := clone{t, filepath.Join(programs, "clone")}
	t.Cleanup(func() { must.NoError(t, os.RemoveAll(c.folder)) })
	must.NoError(t, os.Mkdir(c.folder, 0o755))
	c.shell(fmt.Sprintf(`(cd '%s' && git ls-files -z | tar --null -T - -cf -) | tar -xf -
		git init --quiet && git add --all --force
		git -c user.name=author -c user.email=author@example.com commit --quiet --message all`, root))
	return c
}

// shell runs commands in the clone.
func (c clone) shell(commands string) {
	c.t.Helper()
	command := exec.CommandContext(c.t.Context(), "sh", "-ec", commands)
	command.Dir = c.folder
	if output, err := command.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", commands, err, output)
	}
}

func (c clone) read(file string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.folder, file))
	must.NoError(c.t, err)
	return string(text)
}

func (c clone) write(file, text string) {
	c.t.Helper()
	must.NoError(c.t, os.WriteFile(filepath.Join(c.folder, file), []byte(text), 0o644))
}

// edit replaces a text in a file.
func (c clone) edit(file, before, after string) {
	c.t.Helper()
	text := c.read(file)
	if !strings.Contains(text, before) {
		c.t.Fatalf("%s has no %q", file, before)
	}
	c.write(file, strings.Replace(text, before, after, 1))
}
