// An API server whose watch cache lags, and informers that are connected to it.

package versions

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/connrotation"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
)

// The rows have a request and its answer. N is the version of an object that the cache does
// not have yet.
func TestALaggingServer(t *testing.T) {
	s := startServers(t)
	release := s.hold(t)
	n := s.create(t, "n")
	answers := map[int]string{-1: "nothing", len(s.created) - 1: "the state before", len(s.created): "the newest"}
	for _, row := range tableOf(t, "Two API servers, one of which lags") {
		verb, query, _ := strings.Cut(row[0], " ?")
		before, waited := s.counted(t), s.waited(t)
		objects, err := s.do(t, verb, options(t, strings.ReplaceAll(query, "Version=N", "Version="+n)))
		got := answers[objects]
		if err != nil {
			got = code(err)
		}
		if s.counted(t)["etcd"] != before["etcd"] {
			got += ", from etcd"
		}
		if s.waited(t)-waited >= 3 {
			got += ", after 3 s"
		}
		compare(t, row, 1, got)
	}
	release()
	s.untilUpToDate(t)
}

var waits = regexp.MustCompile(`(?m)^apiserver_watch_cache_read_wait_seconds_sum{.*"podtemplates"} (\S+)$`)

// waited is for how many seconds, in all, requests have waited for the watch cache of the second
// server. The server itself measures them: a slow machine makes a request longer, but not these.
func (s *servers) waited(t *testing.T) (seconds float64) {
	t.Helper()
	if match := waits.FindStringSubmatch(s.metrics(t)); match != nil { // there is none before the first wait
		var err error
		seconds, err = strconv.ParseFloat(match[1], 64)
		must.Do(t, err)
	}
	return seconds
}

// A connection leads to one of the two servers.
type connection struct {
	address atomic.Pointer[string]
	dialer  *connrotation.Dialer
	seen    chan string // the requests
	expire  atomic.Bool // the next WATCH gets 410
	lw      *cache.ListWatch
}

func (s *servers) connect(t *testing.T, address string) *connection {
	t.Helper()
	c := &connection{seen: make(chan string, 100)}
	c.address.Store(&address)
	c.dialer = connrotation.NewDialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, *c.address.Load())
	})
	t.Cleanup(c.dialer.CloseAll)
	config := rest.CopyConfig(s.config)
	config.Dial = c.dialer.DialContext
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		transport := httpfault.New(next)
		transport.SetRule(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			verb := strings.Replace(string(requests.VerbOf(r)), " with the initial list", "+", 1)
			c.seen <- verb + " " + cmp.Or(r.URL.Query().Get("resourceVersion"), `""`)
			if verb == "WATCH" && c.expire.CompareAndSwap(true, false) {
				return httpfault.Refuse(expired)(r, next)
			}
			return next.RoundTrip(r)
		})
		return transport
	})
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	c.lw = cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "podtemplates", "default", fields.Everything())
	return c
}

// move breaks the connection. The next one leads to this server.
func (c *connection) move(address string) {
	c.address.Store(&address)
	c.dialer.CloseAll()
}

// await takes what comes, up to what is wanted.
func await(t *testing.T, from <-chan string, want string) (before []string) {
	t.Helper()
	for {
		select {
		case got := <-from:
			if got == want {
				return before
			}
			before = append(before, got)
		case <-time.After(time.Minute):
			t.Fatalf("waited in vain for %s, but there came %q", want, before)
		}
	}
}

// start runs an informer that notes which objects were added and deleted.
func (c *connection) start(t *testing.T, ours, streams bool) (i cache.SharedIndexInformer, calls chan string) {
	t.Helper()
	lw := listerWatcher(c.lw, streams)
	i = cache.NewSharedIndexInformer(lw, &corev1.PodTemplate{}, 0, nil)
	if ours {
		i = informer.New(lw, &corev1.PodTemplate{}, cache.SharedIndexInformerOptions{})
	}
	calls = make(chan string, 100)
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { calls <- obj.(*corev1.PodTemplate).Name },
		DeleteFunc: func(any) { calls <- "a delete" },
	})
	must.Do(t, err)
	must.Run(t, i.RunWithContext)
	return i, calls
}

// A handler gets each object once, in order.
func TestAnInformerMovesToALaggingServer(t *testing.T) {
	s := startServers(t)
	first := strings.TrimPrefix(s.config.Host, "https://")
	has := func(i cache.SharedIndexInformer) int { return len(i.GetStore().ListKeys()) }
	for name, ours := range map[string]bool{"client-go": false, "ours": true} {
		t.Run(name, func(t *testing.T) {
			c := s.connect(t, first)
			i, calls := c.start(t, ours, true)
			for range s.created {
				<-calls
			}
			added := func(want string) {
				others := await(t, calls, name+want)
				expect.That(t, others == nil, "calls for %q before %s", others, name+want)
			}
			release := s.hold(t)
			x := s.create(t, name+"-1")
			added("-1")
			c.move(s.address) // to a server that does not have that object
			await(t, c.seen, "WATCH "+x)
			s.create(t, name+"-2")
			release()
			added("-2")
			c.move(first)

			release = s.hold(t)
			y := s.create(t, name+"-3")
			added("-3")
			c.expire.Store(true)
			c.move(s.address) // and it has to list there
			for _, request := range []string{"WATCH " + y, "WATCH+ " + y, `WATCH+ ""`, `WATCH+ ""`} {
				await(t, c.seen, request)
			}
			expect.That(t, has(i) == len(s.created), "it has %d objects, want %d", has(i), len(s.created))
			fresh := s.connect(t, s.address)
			streamed, _ := fresh.start(t, ours, true)
			listed, _ := s.connect(t, s.address).start(t, ours, false)
			must.Until(t, "the list from 0", listed.HasSynced)
			expect.That(t, has(listed) == len(s.created)-1,
				"the list from 0 has %d objects, want one less than %d", has(listed), len(s.created))
			await(t, fresh.seen, `WATCH+ ""`)
			await(t, fresh.seen, `WATCH+ ""`)
			expect.That(t, !streamed.HasSynced(), "it has synced with a server that lags")
			release()
			s.create(t, name+"-4")
			added("-4")
			must.Until(t, "all objects", func() bool {
				return has(streamed) == len(s.created) && has(listed) == len(s.created)
			})
		})
	}
}
