//go:build browser

// What the tests share: one browser, chapter 07 as a program, and pages that must
// not complain.

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/scripts/harness/must"
)

var (
	program string          // chapter 07
	factory string          // chapter 08
	browser context.Context // a browser that all tests use
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
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if program, err = Build(context.Background(), dir, "07-shared-informer"); err != nil {
		return 1, err
	}
	if factory, err = Build(context.Background(), dir, "08-factory"); err != nil {
		return 1, err
	}
	var closeIt func()
	if browser, closeIt, err = Open(context.Background()); err != nil {
		return 1, err
	}
	defer closeIt()
	return m.Run(), nil
}

// serve starts the program for a test.
func serve(t *testing.T) *Program {
	t.Helper()
	p, err := Start(context.WithoutCancel(t.Context()), program, "localhost:0")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, p.Stop()) })
	synced(t, p)
	return p
}

// synced waits until the program has the object that is there from the start.
func synced(t *testing.T, p *Program) {
	t.Helper()
	must.Do(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true,
		func(ctx context.Context) (bool, error) {
			text, err := get(ctx, p.URL+"/state")
			if err != nil {
				return false, err
			}
			defer text.Close()
			var m message
			err = json.NewDecoder(text).Decode(&m)
			return m.Set.Store.Objects == 1, err
		}))
}

// A message is some of what the page gets.
type message struct {
	Seq int
	Set struct{ Store struct{ Objects int } }
}

func get(ctx context.Context, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// visit opens the page. At the end of the test the browser must have no complaint.
func visit(t *testing.T, address string, look Look) *Page {
	t.Helper()
	p, leave, err := Visit(browser, address, look)
	must.Do(t, err)
	t.Cleanup(func() {
		leave()
		for _, wrong := range p.Wrong() {
			t.Errorf("the browser complains: %s", wrong)
		}
	})
	return p
}

// until fails the test if a condition does not come to hold.
func until(t *testing.T, p *Page, what, condition string) {
	t.Helper()
	must.Do(t, p.Until(what, condition))
}

// inTheEnd waits for minutes: not the page decides how fast it goes, but the machine.
func inTheEnd(t *testing.T, p *Page, what, condition string) {
	t.Helper()
	for range 8 {
		if p.Until(what, condition) == nil {
			return
		}
	}
	until(t, p, what, condition)
}

func eval[T any](t *testing.T, p *Page, expression string) T {
	t.Helper()
	value, err := Eval[T](p, expression)
	must.Do(t, err)
	return value
}

// number is a field of a station that is a number.
func number(t *testing.T, p *Page, station, field string) int {
	t.Helper()
	return eval[int](t, p, "Number("+Field(station, field)+")")
}

// pressed presses a button, and waits until a number of objects has come or gone.
func pressed(t *testing.T, p *Page, action string, change int) {
	t.Helper()
	want := eval[int](t, p, // what the page shows may lag behind
		`fetch("/xray/state" + location.search).then(a => a.json()).then(s => s.set.store.objects)`) + change
	must.Do(t, p.Press(action))
	until(t, p, fmt.Sprintf("the store has %d objects after %s", want, action),
		fmt.Sprintf(`%s === "%d"`, Field("store", "objects"), want))
}
