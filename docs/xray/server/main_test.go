// What the tests of this package share: informers on a fake clientset, and a server over pipes, so
// that everything runs in fake time.

package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configMap returns an object of the namespace of the page.
func configMap(name, version, app string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name),
		Labels: map[string]string{"app": app}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "me"}},
	}}
}

// listWatch returns a ListerWatcher of the ConfigMaps of a clientset.
func listWatch(client *fake.Clientset) cache.ListerWatcher {
	maps := client.CoreV1().ConfigMaps("ns")
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, o)
		},
	}, client)
}

// newOptions returns an informer of the ConfigMaps of a clientset, not started.
func newOptions(t *testing.T, client *fake.Clientset) *InformerOptions {
	t.Helper()
	o := newOptionsFrom(t, listWatch(client))
	o.Objects = ConfigMaps(client, "ns")
	return o
}

// newOptionsFrom returns an informer of what lw lists and watches, not started. Buttons cannot
// change its objects.
func newOptionsFrom(t *testing.T, lw cache.ListerWatcher) *InformerOptions {
	t.Helper()
	connection, err := NewConnection(&rest.Config{}) // nobody dials
	must.NoError(t, err)
	o := &InformerOptions{
		Name: "configmaps", Kind: "ConfigMap", Example: &corev1.ConfigMap{},
		Source: NewSource(lw), SecondSource: NewSource(lw), Connection: connection,
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
	}
	o.Informer = informer.NewWithParts(o.Source, o.Example, cache.SharedIndexInformerOptions{Indexers: o.Indexers},
		parttwo.Parts)
	return o
}

// A fixture is an XRay of one informer that runs.
type fixture struct {
	*XRay
	*pair
	t    *testing.T
	stop func() // stops everything, and waits for the end; it can be called twice
}

func newFixture(t *testing.T, o *InformerOptions) fixture {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	x, err := Start(ctx, "ns", o)
	must.NoError(t, err)
	var running sync.WaitGroup
	running.Go(x.Wait)
	running.Go(func() { o.Informer.RunWithContext(ctx) })
	f := fixture{XRay: x, pair: x.pairs[0], t: t, stop: func() { cancel(); running.Wait() }}
	t.Cleanup(f.stop)
	return f
}

// inBubble runs a test in fake time, with an informer that has synced and ConfigMaps of these
// names.
func inBubble(t *testing.T, test func(t *testing.T, f fixture), names ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := must.Goroutines()
		client := fake.NewClientset()
		for _, name := range names {
			must.NoError(t, client.Tracker().Add(configMap(name, "", "web")))
		}
		f := newFixture(t, newOptions(t, client))
		time.Sleep(time.Second) // until the slow handlers have got the initial list
		f.settle()
		test(t, f)
		f.stop()
		must.NoNewGoroutines(t, before, "net/http.") // the test may have a server of its own
	})
}

// settle lets time pass until all events have records.
func (f fixture) settle() {
	time.Sleep(2 * recorder.TickInterval)
	synctest.Wait()
}

// do does an action, and waits for its effects.
func (f fixture) do(request actionRequest) (string, error) {
	done, err := actions[request.Action](f.XRay.ctx, f.pair, request)
	f.settle()
	return done, err
}

// mustDo does an action that must succeed.
func (f fixture) mustDo(request actionRequest) string {
	f.t.Helper()
	done, err := f.do(request)
	if err != nil {
		f.t.Fatalf("%+v: %v", request, err)
	}
	return done
}

// A station has the fields of all stations as the page gets them.
type station struct {
	// server
	Connected, Cut bool
	Lists          int
	Bytes          int64

	// reflector
	Doing, Error string
	Until        int64

	// store, and client-go's informer
	Objects  int
	Keys     []string
	Indexes  map[string]map[string]int
	Values   map[string]int
	Received int

	// a queue
	Items []struct {
		Key    string
		Deltas []string
	}
	Dropped  int
	Compared struct {
		Listed, Missing int
		Names           string
	}

	// bulk
	What     string
	Made, Of int

	// a handler
	Speed                  recorder.Speed
	Calls, Waiting, Folded int
	Last                   struct {
		Change string
		TookMs float64
	}
}

// stations returns all stations by their names.
func (f fixture) stations() (all map[string]station) {
	f.t.Helper()
	must.NoError(f.t, json.Unmarshal(f.recorder.After(-1).Stations, &all))
	return all
}

// station returns a station, which must be there.
func (f fixture) station(name string) station {
	f.t.Helper()
	s, ok := f.stations()[name]
	if !ok {
		f.t.Fatalf("there is no station %q", name)
	}
	return s
}

// handlerStation returns the station of a handler.
func (f fixture) handlerStation(implementation recorder.Implementation, name string) station {
	f.t.Helper()
	if implementation == recorder.ClientGo {
		return f.station("client-go/handlers/" + name)
	}
	return f.station("handlers/" + name)
}

var implementations = []recorder.Implementation{recorder.Ours, recorder.ClientGo}

// wantInBoth compares a handler in both implementations.
func (f fixture) wantInBoth(name string, calls, waiting int) {
	f.t.Helper()
	for _, implementation := range implementations {
		got := f.handlerStation(implementation, name)
		if got.Calls != calls || got.Waiting != waiting {
			f.t.Errorf("%s: handler %s has %d calls and %d waiting, want %d and %d", implementation, name,
				got.Calls, got.Waiting, calls, waiting)
		}
	}
}

// wantKeys compares the keys of the store, the one that changed last first.
func (f fixture) wantKeys(want ...string) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.station("store").Keys, cmpopts.EquateEmpty()); diff != "" {
		f.t.Errorf("keys of the store differ (-want +got):\n%s", diff)
	}
}

// lastStored returns the path of the object that was stored last.
func (f fixture) lastStored() (path string) {
	f.t.Helper()
	for _, text := range f.recorder.After(0).Records {
		var record struct {
			Seq  int
			Kind string
		}
		must.NoError(f.t, json.Unmarshal(text, &record))
		if record.Kind == "stored" {
			path = fmt.Sprint("/xray/object/", record.Seq)
		}
	}
	return path
}

// wantCaption checks that one of the captions contains a text.
func (f fixture) wantCaption(want string) {
	f.t.Helper()
	var captions []string
	for _, text := range f.recorder.After(0).Records {
		var record struct{ Caption struct{ Text string } }
		must.NoError(f.t, json.Unmarshal(text, &record))
		captions = append(captions, record.Caption.Text)
	}
	if all := strings.Join(captions, "\n"); !strings.Contains(all, want) {
		f.t.Errorf("captions = %s\nwant %q in one of them", all, want)
	}
}

// wantRefused checks an error of the client.
func wantRefused(t *testing.T, err error, status int, text string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %d %s", status, text)
		return
	}
	if got := statusOf(err); got != status || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %d %v, want %d %s", got, err, status, text)
	}
}

// engine serves the pages like a web.Server, but without its checks.
func engine(x *XRay) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	for pattern, page := range x.Pages() {
		if path, ok := strings.CutPrefix(pattern, "POST "); ok {
			e.POST(path, page)
		} else {
			e.GET(pattern, page)
			e.HEAD(pattern, page)
		}
	}
	return e
}

// get asks for a page.
func (f fixture) get(path string) (status int, body string) {
	answer := httptest.NewRecorder()
	engine(f.XRay).ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
	return answer.Code, answer.Body.String()
}

// pipes is a listener without a network.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4000} }

// serve serves the pages with the timeouts of a web.Server. Each call of connect asks for events,
// on a new connection.
func (f fixture) serve() (connect func() *eventReader) {
	p := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: engine(f.XRay), ReadTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(p) })
	f.t.Cleanup(func() {
		close(p.closed)
		server.Close()
		serving.Wait()
	})
	return func() *eventReader {
		client, accepted := net.Pipe()
		p.conns <- accepted
		f.t.Cleanup(func() { client.Close() })
		_, err := io.WriteString(client, "GET /xray/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		must.NoError(f.t, err)
		response, err := http.ReadResponse(bufio.NewReader(client), nil)
		must.NoError(f.t, err)
		if response.StatusCode != http.StatusOK {
			f.t.Errorf("/xray/events: status %d, want 200", response.StatusCode)
		}
		return &eventReader{bufio.NewReader(response.Body)}
	}
}

// An eventReader reads server-sent events.
type eventReader struct{ from *bufio.Reader }

// alive is what next returns for a comment that only keeps the stream open.
const alive = ":"

// next returns the data of the next event, alive for a comment, and "" at the end of the stream.
func (e *eventReader) next() (data string) {
	for {
		line, err := e.from.ReadString('\n')
		if err != nil {
			return ""
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "data: "):
			data = strings.TrimPrefix(line, "data: ")
		case strings.HasPrefix(line, ": "):
			data = alive
		case line == "" && data != "":
			return data
		}
	}
}
