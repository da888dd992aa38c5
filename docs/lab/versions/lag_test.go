// An API server whose watch cache lags behind, and informers that are connected to it.

package versions

import (
	"cmp"
	"context"
	"net"
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
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
)

// The rows have a request and its answer. N is the version of an object that is not in the cache
// yet.
func TestALaggingServer(t *testing.T) {
	s := startServers(t)
	release := s.hold(t)
	n := s.create(t, "n")
	answers := map[int]string{-1: "nothing", len(s.created) - 1: "the state before", len(s.created): "the newest"}
	for _, row := range tableOf(t, "Two API servers, one of which lags") {
		verb, query, _ := strings.Cut(row[0], " ?")
		countsBefore, waitBefore := s.listCounts(t), s.cacheWait(t)
		objects, err := s.do(t, verb, options(t, strings.ReplaceAll(query, "Version=N", "Version="+n)))
		got := answers[objects]
		if err != nil {
			got = code(err)
		}
		if s.listCounts(t)["etcd"] != countsBefore["etcd"] {
			got += ", from etcd"
		}
		if s.cacheWait(t)-waitBefore >= 3 {
			got += ", after 3 s"
		}
		compare(t, row, 1, got)
	}
	release()
	s.waitUntilUpToDate(t)
}

var cacheWaitMetric = regexp.MustCompile(`(?m)^apiserver_watch_cache_read_wait_seconds_sum{.*"podtemplates"} (\S+)$`)

// cacheWait returns for how many seconds requests have waited for the watch cache of the second
// server. It is the sum of all requests so far. The server measures these waits itself: a slow
// machine makes a request longer, but not the wait.
func (s *servers) cacheWait(t *testing.T) (seconds float64) {
	t.Helper()
	match := cacheWaitMetric.FindStringSubmatch(s.metrics(t))
	if match == nil {
		return 0 // before the first wait, there is no such metric
	}
	seconds, err := strconv.ParseFloat(match[1], 64)
	must.NoError(t, err)
	return seconds
}

// A connection leads to one of the two servers.
type connection struct {
	address atomic.Pointer[string]
	dialer  *connrotation.Dialer
	seen    chan string // the requests, such as `WATCH 12`; WATCH+ is a WATCH with the initial list
	expire  atomic.Bool // if it is set, the next WATCH gets 410
	lw      *cache.ListWatch
}

// connect makes a connection to the server with this address.
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
	var asked fault.Requests
	config.Wrap(asked.Wrap)
	asked.Add(fault.Rule{Answer: fault.Refuse(expired), Matches: func(sent *fault.Request) bool {
		verb := strings.Replace(string(sent.Verb), " with the initial list", "+", 1)
		c.seen <- verb + " " + cmp.Or(sent.URL.Query().Get("resourceVersion"), `""`)
		return sent.Verb == fault.Watch && c.expire.CompareAndSwap(true, false)
	}})
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	c.lw = cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "podtemplates", "default", fields.Everything())
	return c
}

// move closes the connection, and makes the next one lead to the server with this address.
func (c *connection) move(address string) {
	c.address.Store(&address)
	c.dialer.CloseAll()
}

// await receives from a channel until the wanted text comes, and returns the texts before it.
func await(t *testing.T, texts <-chan string, want string) (before []string) {
	t.Helper()
	for {
		select {
		case got := <-texts:
			if got == want {
				return before
			}
			before = append(before, got)
		case <-time.After(time.Minute):
			t.Fatalf("waited for %q for a minute, and got only %q", want, before)
		}
	}
}

// start runs an informer, ours or client-go's. Its handler sends the names of added objects, and "a
// delete" for each deleted one, to the channel.
func (c *connection) start(t *testing.T, ours, streams bool) (i cache.SharedIndexInformer, calls chan string) {
	t.Helper()
	lw := listerWatcher(c.lw, streams)
	i = cache.NewSharedIndexInformer(lw, &corev1.PodTemplate{}, 0, nil)
	if ours {
		i = informer.NewWithParts(lw, &corev1.PodTemplate{}, cache.SharedIndexInformerOptions{}, parttwo.Parts)
	}
	calls = make(chan string, 100)
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { calls <- obj.(*corev1.PodTemplate).Name },
		DeleteFunc: func(any) { calls <- "a delete" },
	})
	must.NoError(t, err)
	must.Run(t, i.RunWithContext)
	return i, calls
}

// A handler gets each object once, in order.
func TestAnInformerMovesToALaggingServer(t *testing.T) {
	s := startServers(t)
	first := strings.TrimPrefix(s.config.Host, "https://")
	count := func(i cache.SharedIndexInformer) int { return len(i.GetStore().ListKeys()) }
	for name, ours := range map[string]bool{"client-go": false, "ours": true} {
		t.Run(name, func(t *testing.T) {
			c := s.connect(t, first)
			i, calls := c.start(t, ours, true)
			for range s.created {
				<-calls
			}
			wantNext := func(object string) {
				t.Helper()
				if others := await(t, calls, object); others != nil {
					t.Errorf("before the add of %s, the handler got calls for %q, want none", object, others)
				}
			}
			release := s.hold(t)
			version1 := s.create(t, name+"-1")
			wantNext(name + "-1")
			c.move(s.address) // to the second server, which does not have the object yet
			await(t, c.seen, "WATCH "+version1)
			s.create(t, name+"-2")
			release()
			wantNext(name + "-2")
			c.move(first)

			release = s.hold(t)
			version3 := s.create(t, name+"-3")
			wantNext(name + "-3")
			c.expire.Store(true)
			c.move(s.address) // to the second server, where the informer has to list
			for _, request := range []string{"WATCH " + version3, "WATCH+ " + version3, `WATCH+ ""`, `WATCH+ ""`} {
				await(t, c.seen, request)
			}
			if got, want := count(i), len(s.created); got != want {
				t.Errorf("while the server lags, the store has %d objects, want %d", got, want)
			}
			fresh := s.connect(t, s.address)
			streamed, _ := fresh.start(t, ours, true)
			listed, _ := s.connect(t, s.address).start(t, ours, false)
			must.Until(t, "the informer with the list from 0 has synced", listed.HasSynced)
			if got, want := count(listed), len(s.created)-1; got != want {
				t.Errorf("the list from 0 has %d objects, want %d: the last one is not there yet", got, want)
			}
			await(t, fresh.seen, `WATCH+ ""`)
			await(t, fresh.seen, `WATCH+ ""`)
			if streamed.HasSynced() {
				t.Error("HasSynced() of a new informer with a streamed list = true, want false while the server lags")
			}
			release()
			s.create(t, name+"-4")
			wantNext(name + "-4")
			must.Until(t, "both new informers have all objects", func() bool {
				return count(streamed) == len(s.created) && count(listed) == len(s.created)
			})
		})
	}
}
