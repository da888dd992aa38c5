//go:build browser

// What the tests share: a browser, a program, and pages about which the browser must not complain.

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
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if xrayProgram, err = Build(context.Background(), dir, "docs/xray"); err != nil {
		return 1, err
	}
	if readerProgram, err = Build(context.Background(), dir, "docs/reader"); err != nil {
		return 1, err
	}
	var closeBrowser func()
	if browser, closeBrowser, err = Open(context.Background()); err != nil {
		return 1, err
	}
	defer closeBrowser()
	return m.Run(), nil
}

// serve starts X-ray for a test.
func serve(t *testing.T) *Program {
	t.Helper()
	p, err := Start(context.WithoutCancel(t.Context()), xrayProgram, "localhost:0")
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, p.Stop()) })
	waitForSync(t, p)
	return p
}

// waitForSync waits until the informer has the object that is there from the start.
func waitForSync(t *testing.T, p *Program) {
	t.Helper()
	must.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true,
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

// A message has some fields of the messages that the page gets.
type message struct {
	Seq int
	Set struct{ Store struct{ Objects int } }
}

// get asks for an address. The caller closes the body.
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

// visit opens the page of X-ray. At the end of the test the browser must have no complaint.
func visit(t *testing.T, address string, display Display) *Page {
	t.Helper()
	p, closePage, err := Visit(browser, address, display)
	must.NoError(t, err)
	t.Cleanup(func() {
		closePage()
		wantNoComplaint(t, p)
	})
	return p
}

func wantNoComplaint(t *testing.T, p *Page) {
	t.Helper()
	for _, complaint := range p.TakeComplaints() {
		t.Errorf("the browser complains: %s", complaint)
	}
}

// until waits for a condition, and ends the test if it does not become true.
func until(t *testing.T, p *Page, what, condition string) {
	t.Helper()
	must.NoError(t, p.Until(what, condition))
}

// untilMinutes is until for minutes, where the time depends on the machine and not on the page.
func untilMinutes(t *testing.T, p *Page, what, condition string) {
	t.Helper()
	for range 8 {
		if p.Until(what, condition) == nil {
			return
		}
	}
	until(t, p, what, condition)
}

// eval returns the value of an expression, and ends the test if there is none.
func eval[T any](t *testing.T, p *Page, expression string) T {
	t.Helper()
	value, err := Eval[T](p, expression)
	must.NoError(t, err)
	return value
}

// number returns the value of a field that is a number.
func number(t *testing.T, p *Page, station, field string) int {
	t.Helper()
	return eval[int](t, p, "Number("+Field(station, field)+")")
}

// pressAndCount presses the button of an action, and waits until the store has change more objects.
func pressAndCount(t *testing.T, p *Page, action string, change int) {
	t.Helper()
	before := eval[int](t, p, // from the program, because the page may lag behind
		`fetch("/xray/state" + location.search).then(a => a.json()).then(s => s.set.store.objects)`)
	want := before + change
	must.NoError(t, p.Press(action))
	until(t, p, fmt.Sprintf("the store has %d objects after %s", want, action),
		fmt.Sprintf(`%s === "%d"`, Field("store", "objects"), want))
}
