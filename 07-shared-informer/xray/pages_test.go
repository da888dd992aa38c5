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
	"time"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/scripts/harness/must"
)

func TestPages(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for path, want := range map[string]string{
			"/xray":                              `200 <meta name="xray-token" content="` + r.token + `">`,
			"/xray?informer=configmaps":          `200 xray-token`,
			"/xray?informer=x":                   `404 there is no informer`,
			"/xray?x=y":                          `400 there is no parameter`,
			"/xray/files/book.css":               `200 body {`,
			"/xray/files/index.html":             `404 there is no file`,
			"/xray/files/..":                     `404 there is no file`,
			"/xray/files/nothing.js":             `404 there is no file`,
			"/xray/state":                        `200 "informer":"configmaps","namespace":"ns","kind":"ConfigMap"`,
			"/xray/handlers/fast":                `200 {"calls":[{"time":`,
			"/xray/handlers/slow?lane=client-go": `200 "lane":"client-go"`,
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
			if strings.Contains(body, "managedFields") {
				t.Errorf("%s has managed fields", path)
			}
		}
		r.Subject.Kind = "Secret"
		r.must(order{Action: "create"})
		if status, body := r.get(r.lastStored()); status != 404 || !strings.Contains(body, "no Secret") {
			t.Errorf("a Secret: %d %s", status, body)
		}
	}, "a")
}

// A new client gets a state, then records; merged they are the state of the page.
func TestEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		connect := r.serve()
		views := [2]map[string]json.RawMessage{}
		readers := [2]*eventReader{connect(), connect()}
		for i, reader := range readers {
			name, data := reader.next()
			var s snapshot
			must.Do(t, json.Unmarshal([]byte(data), &s))
			if views[i] = s.Set; name != "state" || s.Instance != r.instance {
				t.Errorf("the first event is %s %+v", name, s)
			}
		}
		go func() {
			for range 20 {
				actions["create"](r.XRay, r.ctx, r.Subject, order{})
				time.Sleep(frameTime / 3)
			}
		}()
		var reading sync.WaitGroup
		for i, reader := range readers {
			reading.Go(func() {
				for alive := 0; alive < 7; { // it is idle for longer than the server's timeouts
					name, data := reader.next()
					if merge(t, views[i], name, data); name == ":" {
						alive++
					}
					if name == "" {
						t.Errorf("client %d: the events have ended", i)
						return
					}
				}
			})
		}
		reading.Wait()
		for i, view := range views {
			if want := r.recorder.state().Set; asText(view) != asText(want) {
				t.Errorf("client %d has %s\nwant %s", i, asText(view), asText(want))
			}
		}
		go r.stop()
		for name := ":"; name != ""; { // the events end, perhaps after one more message
			name, _ = readers[0].next()
		}
	}, "a")
}

func merge(t *testing.T, view map[string]json.RawMessage, name, data string) {
	t.Helper()
	switch name {
	case "records":
		var records []record
		must.Do(t, json.Unmarshal([]byte(data), &records))
		for _, record := range records {
			for station, value := range record.Set {
				if view[station] = value; string(value) == "null" {
					delete(view, station)
				}
			}
		}
	case "state":
		var s snapshot
		must.Do(t, json.Unmarshal([]byte(data), &s))
		clear(view)
		for station, value := range s.Set {
			view[station] = value
		}
	}
}

// A client that falls behind gets a new state; one that takes nothing is left.
func TestASlowClient(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		connect := r.serve()
		slowly := connect()
		slowly.next()
		burst := func(frames int) {
			for range frames {
				for range frameRecords {
					r.recorder.Observe(observer.Event{Kind: observer.Bookmark, Version: "9"})
				}
				time.Sleep(frameTime)
			}
		}
		burst(maxBehind/(frameRecords-frameCaptions) + 20)
		name, _ := slowly.next() // what was being sent
		if name != "records" {
			t.Errorf("first %q", name)
		}
		name, data := slowly.next()
		view := map[string]json.RawMessage{}
		if merge(t, view, name, data); name != "state" || asText(view) != asText(r.recorder.state().Set) {
			t.Errorf("then %q %.200s", name, data)
		}
		burst(10)
		time.Sleep(2 * sendTimeout)
		for name != "" {
			name, _ = slowly.next()
		}
		if len(r.XRay.streams) != 0 {
			t.Error("it is still being served")
		}
	}, "a")
}

func TestTooManyPages(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		connect := r.serve()
		for range maxStreams {
			connect()
		}
		if status, body := r.get("/xray/events"); status != 503 || !strings.Contains(body, "close one") {
			t.Errorf("%d %s", status, body)
		}
	})
}

// On a real server: its checks, and its end while a page gets events.
func TestOnAServer(t *testing.T) {
	r := newRig(t, configMap("a", "1", "web"))
	server, err := web.Start(r.ctx, "127.0.0.1:0", r.Pages())
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
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.token}, 200},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.token, "Origin": server.URL()}, 200},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.token, "Origin": "http://evil.example"}, 403},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.token, "Origin": "null"}, 403},
		{"POST", "/xray/do", map[string]string{"X-Xray-Token": r.token, "Host": "evil.example"}, 421},
		{"GET", "/xray", map[string]string{"Origin": "http://evil.example"}, 403},
	} {
		response := send(test.method, test.path, test.header)
		response.Body.Close()
		if response.StatusCode != test.want {
			t.Errorf("%+v: got %d", test, response.StatusCode)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%+v: %s is %q", test, name, got)
			}
		}
	}
	events := send("GET", "/xray/events", nil)
	defer events.Body.Close()
	_, err = io.ReadFull(events.Body, make([]byte, len("event: state")))
	must.Do(t, err)
	r.stop()
	must.Do(t, server.Wait())
	if _, err := io.ReadAll(events.Body); err != nil {
		t.Errorf("the events end with %v", err)
	}
}
