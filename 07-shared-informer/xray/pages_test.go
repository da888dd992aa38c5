// What the pages answer, and what they refuse.

package xray

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/07-shared-informer/xray/recorder"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestPages(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for path, want := range map[string]string{
			"/":                                  `302 href="/xray"`,
			"/xray":                              `200 <meta name="xray-token" content="` + r.view.Token + `">`,
			"/xray?informer=configmaps":          `200 xray-token`,
			"/xray?informer=x":                   `404 there is no informer`,
			"/xray?x=y":                          `400 there is no parameter`,
			"/xray/files/book.css":               `200 body {`,
			"/xray/files/index.html":             `404 there is no file`,
			"/xray/files/..":                     `404 there is no file`,
			"/xray/files/nothing.js":             `404 there is no file`,
			"/xray/state":                        `200 "informer":"configmaps","informers":["configmaps"]`,
			"/xray/handlers/fast":                `200 {"calls":[{"change":"initial"`,
			"/xray/handlers/slow?lane=client-go": `200 {"calls":[{"change":"initial"`,
			"/xray/handlers/nobody":              `404 there is no handler`,
			"/xray/handlers/fast?lane=x":         `404 there is no handler`,
			"/xray/book/03-reflector.md":         `200 <h1 id="03--the-reflector">`,
			"/xray/book/main.go":                 `404 the book has no page`,
			"/xray/object/x":                     `400 no number`,
			"/xray/object/-1":                    `400 no number`,
			"/xray/object/99999":                 `404 is not kept`,
			"/xray/object/1":                     `404 no object to show`,
			r.lastStored():                       `200 "name":"a","namespace":"ns"`,
		} {
			status, body := r.get(path)
			if got := fmt.Sprint(status); !strings.HasPrefix(want, got) || !strings.Contains(body, want[4:]) {
				t.Errorf("%s: got %d %s\nwant %s", path, status, body, want)
			}
			expect.That(t, !strings.Contains(body, "managedFields"), "%s has managed fields", path)
		}
		r.recorder.Kind = "Secret"
		r.must(order{Action: "create"})
		status, body := r.get(r.lastStored())
		expect.That(t, status == 404 && strings.Contains(body, "no Secret"), "a Secret: %d %s", status, body)
	}, "a")
}

// A message is some of what the events have.
type message struct {
	Instance    string
	Seq, Missed int64
	Set         json.RawMessage
	Records     []struct{ Seq int64 }
}

// A new client gets the state, and at each tick the state again, with the records since.
func TestEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		connect := r.serve()
		readers := [2]*eventReader{connect(), connect()}
		go func() {
			for range 20 {
				create(r.XRay.ctx, r.Subject, order{})
				time.Sleep(recorder.TickTime / 3)
			}
		}()
		var reading sync.WaitGroup
		for i, reader := range readers {
			reading.Go(func() {
				seen := message{}
				for alive := 0; alive < 7; { // it is idle for longer than the server's timeouts
					data := reader.next()
					if alive++; data == ":" {
						continue
					}
					alive = 0
					before := seen
					seen = message{}
					if err := json.Unmarshal([]byte(data), &seen); err != nil {
						t.Errorf("client %d: %q: %v", i, data, err)
						return
					}
					for n, record := range seen.Records {
						want := before.Seq + int64(n) + 1
						expect.That(t, record.Seq == want, "client %d has got record %d, want %d", i, record.Seq, want)
					}
					expect.That(t, before.Seq <= 0 || (seen.Records != nil && seen.Instance == before.Instance),
						"client %d has got %.200s", i, data)
				}
				if now := r.recorder.After(-1); seen.Seq != now.Seq || string(seen.Set) != string(now.Set) {
					t.Errorf("client %d has %s\nwant %s", i, seen.Set, now.Set)
				}
			})
		}
		reading.Wait()
		go r.stop()
		for readers[0].next() != "" { // the events end, perhaps after one more message
		}
	}, "a")
}

// A client that falls behind gets the state and the last records; one that takes
// nothing is left.
func TestASlowClient(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		slowly := r.serve()()
		slowly.next()
		burst := func(ticks int) {
			for range ticks {
				for range 50 {
					r.recorder.Lane(recorder.Ours).Observe(observer.Event{Kind: observer.Bookmark, Version: "9"})
				}
				time.Sleep(recorder.TickTime)
			}
			r.settle()
		}
		burst(180)    // within what a client may take to read
		slowly.next() // what was being sent
		var last message
		must.Do(t, json.Unmarshal([]byte(slowly.next()), &last))
		now := r.recorder.After(-1)
		if n := int64(len(last.Records)); n == 0 || last.Missed == 0 || last.Records[n-1].Seq != now.Seq ||
			string(last.Set) != string(now.Set) {
			t.Errorf("it has missed %d, and gets %d records and %s\nwant up to %d, and %s", last.Missed, n, last.Set,
				now.Seq, now.Set)
		}
		burst(10)
		time.Sleep(20 * time.Second) // twice what a client may take
		for slowly.next() != "" {
		}
		synctest.Wait() // what was sending ends
		for range 16 {  // there is room for all of them again
			r.serve()()
		}
	}, "a")
}

func TestTooManyPages(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		connect := r.serve()
		for range 16 {
			connect()
		}
		status, body := r.get("/xray/events")
		expect.That(t, status == 503 && strings.Contains(body, "close one"), "%d %s", status, body)
	})
}

// On a real server: its checks, and its end while a page gets events.
func TestOnAServer(t *testing.T) {
	r := newRig(t, configMap("a", "1", "web"))
	server, err := web.Start(r.XRay.ctx, "127.0.0.1:0", r.Pages())
	must.Do(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(method, path string, header map[string]string) *http.Response {
		t.Helper()
		request, err := http.NewRequest(method, server.URL()+path, strings.NewReader(`{"action":"restore"}`))
		must.Do(t, err)
		request.Header.Set("Content-Type", "application/json")
		for name, value := range header {
			request.Header.Set(name, value)
		}
		request.Host = header["Host"]
		response, err := client.Do(request)
		must.Do(t, err)
		return response
	}
	for _, test := range []struct {
		method, path string
		header       map[string]string
		want         int
	}{
		{"GET", "/xray", nil, 200},
		{"HEAD", "/xray/events", nil, 200},
		{"GET", "/xray/none", nil, 404},
		{"GET", "/xray/do", nil, 405},
		{"POST", "/xray/state", nil, 405},
		{"POST", "/xray/do", nil, 403},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.view.Token}, 200},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.view.Token, "Origin": server.URL()}, 200},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.view.Token, "Origin": "http://evil.example"}, 403},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.view.Token, "Origin": "null"}, 403},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.view.Token, "Host": "evil.example"}, 421},
		{"GET", "/xray", map[string]string{"Origin": "http://evil.example"}, 403},
	} {
		response := send(test.method, test.path, test.header)
		response.Body.Close()
		expect.That(t, response.StatusCode == test.want, "%+v: got %d", test, response.StatusCode)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			got := response.Header.Get(name)
			expect.That(t, got == want, "%+v: %s is %q", test, name, got)
		}
	}
	events := send("GET", "/xray/events", nil)
	defer events.Body.Close()
	_, err = io.ReadFull(events.Body, make([]byte, len("data: ")))
	must.Do(t, err)
	r.stop()
	must.Do(t, server.Wait())
	if _, err := io.ReadAll(events.Body); err != nil {
		t.Errorf("the events end with %v", err)
	}
}
