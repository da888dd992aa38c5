// Claims of the book about an open connection that breaks, tested on the pinned version of client-go,
// in fake time. The connections are pipes in memory, with TLS and HTTP/2.

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// A pipe is the client's end of a connection.
type pipe struct {
	net.Conn
	broken error          // what Read returns after fail
	dead   atomic.Bool    // what is written gets lost, and so the server sends nothing either
	lost   chan time.Time // when something got lost
}

// fail makes Read return an error.
func (p *pipe) fail(err error) {
	p.broken = err
	_ = p.Conn.Close() // of a pipe: it never fails
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if err != nil && p.broken != nil {
		err = p.broken
	}
	return n, err
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.dead.Load() {
		p.lost <- time.Now()
		return len(b), nil
	}
	return p.Conn.Write(b)
}

// A pipeListener is a net.Listener. Its connections are the server's ends of pipes.
type pipeListener struct {
	accepted chan net.Conn
	open     context.Context
	close    context.CancelFunc
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.open.Done():
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error {
	l.close()
	return nil
}

// Addr returns an address that is reached without a proxy.
func (pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// A request is a LIST or a WATCH that a server got.
type request struct {
	verb string
	at   time.Time
}

// answer returns a handler that sends one object over each watch, and then nothing more.
func answer(requests chan<- request) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			requests <- request{"LIST", time.Now()}
			fmt.Fprint(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`)
			return
		}
		requests <- request{"WATCH", time.Now()}
		fmt.Fprint(w, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1",`+
			`"metadata":{"name":"a","namespace":"ns","resourceVersion":"2"}}}`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// If the client is told that its connection has ended, the reflector resumes the watch. If nobody
// tells it, the client sends a ping, and then gives up the connection. This is an error, and leads
// to a list.
func TestWhenTheConnectionOfAWatchBreaks(t *testing.T) {
	for name, test := range map[string]struct {
		breakIt                func(*pipe)
		readIdle, pingTimeout  string        // the variables of the environment, in seconds
		wantPing               time.Duration // after the break; 0: there is none
		wantVerb               string        // of the next request
		wantEarliest, wantLast time.Duration // when it comes, after the break
	}{
		"closed": {breakIt: func(p *pipe) { p.fail(io.EOF) }, wantVerb: "WATCH"},
		"reset":  {breakIt: func(p *pipe) { p.fail(syscall.ECONNRESET) }, wantVerb: "WATCH"},
		"dead": {
			breakIt:      func(p *pipe) { p.dead.Store(true) },
			wantPing:     30 * time.Second,
			wantVerb:     "LIST",
			wantEarliest: 45*time.Second + 800*time.Millisecond, // with a pause before the list
			wantLast:     45*time.Second + 1600*time.Millisecond,
		},
		"dead, with other timeouts": {
			breakIt:      func(p *pipe) { p.dead.Store(true) },
			readIdle:     "10",
			pingTimeout:  "3",
			wantPing:     10 * time.Second,
			wantVerb:     "LIST",
			wantEarliest: 13*time.Second + 800*time.Millisecond,
			wantLast:     13*time.Second + 1600*time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", test.readIdle) // empty: the default
			t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", test.pingTimeout)
			synctest.Test(t, func(t *testing.T) {
				listener := pipeListener{accepted: make(chan net.Conn)}
				listener.open, listener.close = context.WithCancel(t.Context())
				requests := make(chan request, 10)
				server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: answer(requests)},
					EnableHTTP2: true}
				server.StartTLS()
				defer server.Close()
				var last *pipe // the connection that was dialed last
				config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
				config.Dial = func(context.Context, string, string) (net.Conn, error) {
					client, server := net.Pipe()
					last = &pipe{Conn: client, lost: make(chan time.Time, 100)}
					listener.accepted <- server
					return last, nil
				}
				lw, store := configMaps(t, config, "ns"), cache.NewStore(cache.MetaNamespaceKeyFunc)
				stop := must.Run(t, cache.NewReflector(cannotStream{lw}, &corev1.ConfigMap{}, store, 0).RunWithContext)
				defer stop()
				for _, want := range []string{"LIST", "WATCH"} {
					if got := <-requests; got.verb != want {
						t.Fatalf("the reflector sends a %s, want a %s", got.verb, want)
					}
				}
				synctest.Wait() // the watch has sent its object

				broken, start := last, time.Now()
				test.breakIt(broken)
				if test.wantPing > 0 {
					if got := (<-broken.lost).Sub(start); got != test.wantPing {
						t.Errorf("a ping after %v, want it after %v", got, test.wantPing)
					}
				}
				next := <-requests
				after := next.at.Sub(start)
				if next.verb != test.wantVerb || after < test.wantEarliest || after > test.wantLast {
					t.Errorf("the next request is a %s after %v, want a %s after %v to %v",
						next.verb, after, test.wantVerb, test.wantEarliest, test.wantLast)
				}
				synctest.Wait() // the request is answered
			})
		})
	}
}
