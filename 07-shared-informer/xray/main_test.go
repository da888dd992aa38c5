// What the tests of this package share: informers on a fake clientset, and pages
// over pipes, so that all runs in fake time.

package xray

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
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/xray/recorder"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configMap is an object of the page's namespace.
func configMap(name, version, app string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, ResourceVersion: version, UID: types.UID("uid-" + name),
		Labels: map[string]string{"app": app}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "me"}},
	}}
}

// listWatch lists and watches the ConfigMaps of a clientset.
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

// newSubject is an informer of the ConfigMaps of a clientset, not started.
func newSubject(client *fake.Clientset) *Subject {
	s := subjectOf(listWatch(client))
	s.Objects = ConfigMaps(client, "ns")
	return s
}

// subjectOf is the same for what lw lists and watches. Its objects cannot be changed.
func subjectOf(lw cache.ListerWatcher) *Subject {
	s := &Subject{
		Name: "configmaps", Kind: "ConfigMap", Example: &corev1.ConfigMap{},
		Source: NewSource(lw), Theirs: NewSource(lw), Line: &Line{proxy: netfault.New("127.0.0.1:1")},
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
	}
	s.Informer = informer.New(s.Source, s.Example, cache.SharedIndexInformerOptions{Indexers: s.Indexers})
	return s
}

// A rig is an XRay of one informer that runs.
type rig struct {
	*XRay
	*Subject
	t    *testing.T
	stop func() // ends all, and waits for it; it can be called twice
}

func newRig(t *testing.T, objs ...runtime.Object) rig {
	return rigOf(t, newSubject(fake.NewClientset(objs...)))
}

func rigOf(t *testing.T, s *Subject) rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	x, err := Start(ctx, "ns", s)
	must.Do(t, err)
	var running sync.WaitGroup
	running.Go(x.Wait)
	running.Go(func() { s.Informer.RunWithContext(ctx) })
	r := rig{XRay: x, Subject: s, t: t, stop: func() { cancel(); running.Wait() }}
	t.Cleanup(r.stop)
	return r
}

// settle lets time pass until all events are in records.
func (r rig) settle() {
	time.Sleep(2 * recorder.TickTime)
	synctest.Wait()
}

// do does an action and waits for what comes of it.
func (r rig) do(o order) (string, error) {
	done, err := actions[o.Action](r.XRay.ctx, r.Subject, o)
	r.settle()
	return done, err
}

func (r rig) must(o order) string {
	r.t.Helper()
	done, err := r.do(o)
	if err != nil {
		r.t.Fatalf("%+v: %v", o, err)
	}
	return done
}

// A station is one as the page gets it, whichever it is.
type station struct {
	Connected, Cut                     bool
	Lists, Received, Objects, Made, Of int
	Doing, Error, Pace, What           string
	Until, Bytes                       int64
	Calls, Waiting, Folded             int
	Keys                               []string
	Indexes                            map[string]map[string]int
	Values                             map[string]int
	Last                               struct {
		Change string
		TookMs float64
	}
}

// stations are all that there are.
func (r rig) stations() (all map[string]station) {
	r.t.Helper()
	must.Do(r.t, json.Unmarshal(r.recorder.After(-1).Set, &all))
	return all
}

// lastStored is the page of the object that was stored last.
func (r rig) lastStored() (path string) {
	for _, text := range r.recorder.After(0).Records {
		var record struct {
			Seq  int
			Kind string
		}
		must.Do(r.t, json.Unmarshal(text, &record))
		if record.Kind == "stored" {
			path = fmt.Sprint("/xray/object/", record.Seq)
		}
	}
	return path
}

func (r rig) wantCaption(want string) {
	r.t.Helper()
	var captions []string
	for _, text := range r.recorder.After(0).Records {
		var record struct{ Caption struct{ Text string } }
		must.Do(r.t, json.Unmarshal(text, &record))
		captions = append(captions, record.Caption.Text)
	}
	if all := strings.Join(captions, "\n"); !strings.Contains(all, want) {
		r.t.Errorf("no caption says %q:\n%s", want, all)
	}
}

// engine serves the pages as a web.Server does, but for its checks.
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

func (r rig) get(path string) (int, string) {
	answer := httptest.NewRecorder()
	engine(r.XRay).ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
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
func (p pipes) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4000}
}

// serve serves the pages with the timeouts of a web.Server. Each call of connect asks
// for the events on a connection of its own.
func (r rig) serve() (connect func() *eventReader) {
	p := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: engine(r.XRay), ReadTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(p) })
	r.t.Cleanup(func() {
		close(p.closed)
		server.Close()
		serving.Wait()
	})
	return func() *eventReader {
		client, accepted := net.Pipe()
		p.conns <- accepted
		r.t.Cleanup(func() { client.Close() })
		_, err := io.WriteString(client, "GET /xray/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		must.Do(r.t, err)
		response, err := http.ReadResponse(bufio.NewReader(client), nil)
		must.Do(r.t, err)
		return &eventReader{bufio.NewReader(response.Body)}
	}
}

// An eventReader reads server-sent events.
type eventReader struct{ from *bufio.Reader }

// next is the data of the next event, ":" for a comment, and "" at the end.
func (e *eventReader) next() (data string) {
	for {
		line, err := e.from.ReadString('\n')
		if err != nil {
			return ""
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case strings.HasPrefix(line, ": "):
			data = ":"
		case line == "" && data != "":
			return data
		}
	}
}
