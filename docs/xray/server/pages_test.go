// What the pages answer, and what they refuse.

package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/docs/xray/recorder"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/web"
)

func TestPages(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		for _, test := range []struct {
			path   string
			status int
			want   string
		}{
			{"/", 302, `href="/xray"`},
			{"/xray", 200, `<meta name="xray-token" content="` + f.view.Token + `">`},
			{"/xray?informer=configmaps", 200, `xray-token`},
			{"/xray?informer=x", 404, `there is no informer`},
			{"/xray?x=y", 400, `there is no parameter`},
			{"/xray/files/xray.css", 200, `body {`},
			{"/xray/files/index.html", 404, `there is no file`},
			{"/xray/files/..", 404, `there is no file`},
			{"/xray/files/nothing.js", 404, `there is no file`},
			{"/xray/state", 200, `"informer":"configmaps","informers":["configmaps"]`},
			{"/xray/handlers/fast", 200, `{"calls":[{"change":"initial"`},
			{"/xray/handlers/slow?implementation=client-go", 200, `{"calls":[{"change":"initial"`},
			{"/xray/handlers/nobody", 404, `there is no handler`},
			{"/xray/handlers/fast?implementation=x", 404, `there is no handler`},
			{"/xray/object/x", 400, `no number`},
			{"/xray/object/-1", 400, `no number`},
			{"/xray/object/99999", 404, `is not kept`},
			{"/xray/object/1", 404, `no object to show`},
			{f.lastStored(), 200, `"name":"a","namespace":"ns"`},
		} {
			status, body := f.get(test.path)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("%s: got %d %s, want %d and %s in it", test.path, status, body, test.status, test.want)
			}
			if strings.Contains(body, "managedFields") {
				t.Errorf("%s: got %s, want no managed fields", test.path, body)
			}
		}
	}, "a")
}

// A program that the reading room has started knows its address, for links to the book.
func TestTheAddressOfTheReadingRoom(t *testing.T) {
	t.Setenv("READING_ROOM", `http://127.0.0.1:4100/"`)
	inBubble(t, func(t *testing.T, f fixture) {
		const want = `<meta name="xray-book" content="http://127.0.0.1:4100/&#34;">`
		if _, body := f.get("/xray"); !strings.Contains(body, want) {
			t.Errorf("the page is\n%s\nwant %s in it", body, want)
		}
	})
}

func TestTheObjectOfASecret(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		f.recorder.Kind = "Secret"
		f.mustDo(actionRequest{Action: "create"})
		status, body := f.get(f.lastStored())
		if status != 404 || !strings.Contains(body, "no Secret") {
			t.Errorf("the object of a Secret: got %d %s, want 404 and no Secret in it", status, body)
		}
	})
}

// A message has some fields of the messages in the stream of events.
type message struct {
	Instance    string
	Seq, Missed int64
	Set         json.RawMessage
	Records     []struct{ Seq int64 }
}

// A new client gets the state. After each tick it gets the state again, with the records since
// then.
func TestEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		connect := f.serve()
		readers := [2]*eventReader{connect(), connect()}
		go func() {
			for range 20 {
				createObject(f.XRay.ctx, f.pair, actionRequest{})
				time.Sleep(recorder.TickInterval / 3)
			}
		}()
		var reading sync.WaitGroup
		for i, reader := range readers {
			reading.Go(func() {
				last := readUntilIdle(t, i, reader)
				now := f.recorder.After(-1)
				if last.Seq != now.Seq || string(last.Set) != string(now.Stations) {
					t.Errorf("client %d has record %d and %s\nwant %d and %s", i, last.Seq, last.Set, now.Seq,
						now.Stations)
				}
			})
		}
		reading.Wait()
		go f.stop()
		for readers[0].next() != "" { // the stream ends, perhaps after one more message
		}
	}, "a")
}

// readUntilIdle reads messages until the stream was idle for longer than the timeouts of the
// server. It checks that no record is missing, and returns the last message.
func readUntilIdle(t *testing.T, client int, reader *eventReader) (last message) {
	const idle = 7 // comments that keep the stream open, one every ten seconds
	for comments := 0; comments < idle; {
		data := reader.next()
		if data == alive {
			comments++
			continue
		}
		comments = 0
		var m message
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Errorf("client %d: %q: %v", client, data, err)
			return last
		}
		for n, record := range m.Records {
			if want := last.Seq + int64(n) + 1; record.Seq != want {
				t.Errorf("client %d has got record %d, want %d", client, record.Seq, want)
			}
		}
		if last.Seq > 0 && m.Records == nil {
			t.Errorf("client %d has got no records after %d, want some: %.200s", client, last.Seq, data)
		}
		if last.Seq > 0 && m.Instance != last.Instance {
			t.Errorf("client %d: instance = %q, want %q as before", client, m.Instance, last.Instance)
		}
		last = m
	}
	return last
}

// A client that falls behind gets the state and the last records.
func TestASlowClient(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		page := f.serve()()
		page.next()
		f.makeRecords(180) // for less time than a client has to take a message
		page.next()        // the message that was under way
		var last message
		must.NoError(t, json.Unmarshal([]byte(page.next()), &last))
		now := f.recorder.After(-1)
		if len(last.Records) == 0 || last.Missed == 0 {
			t.Fatalf("the client gets %d records and has missed %d, want some of both", len(last.Records), last.Missed)
		}
		if got := last.Records[len(last.Records)-1].Seq; got != now.Seq {
			t.Errorf("the client gets records up to %d, want %d", got, now.Seq)
		}
		if got, want := string(last.Set), string(now.Stations); got != want {
			t.Errorf("the client gets the state %s\nwant %s", got, want)
		}
	}, "a")
}

// makeRecords lets our informer report 50 events in each of so many ticks.
func (f fixture) makeRecords(ticks int) {
	for range ticks {
		for range 50 {
			f.recorder.Observer(recorder.Ours).Observe(observer.Bookmark{Version: "9"})
		}
		time.Sleep(recorder.TickInterval)
	}
	f.settle()
}

// The stream of a client that takes nothing ends, and makes room for another.
func TestAClientThatTakesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		page := f.serve()()
		page.next()
		f.makeRecords(10)
		time.Sleep(20 * time.Second) // twice the time that a client has to take a message
		for page.next() != "" {
		}
		synctest.Wait() // the page that was sending returns
		connect := f.serve()
		for range 16 {
			connect().next()
		}
	}, "a")
}

func TestTooManyPages(t *testing.T) {
	inBubble(t, func(t *testing.T, f fixture) {
		connect := f.serve()
		for range 16 {
			connect()
		}
		status, body := f.get("/xray/events")
		if status != 503 || !strings.Contains(body, "close one") {
			t.Errorf("the events for one page more: got %d %s, want 503 and close one in it", status, body)
		}
	})
}

// send sends a request to a server. The header Host sets the host of the request.
func send(t *testing.T, server *web.Server, method, path string, header map[string]string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(method, server.URL()+path, strings.NewReader(`{"action":"restore"}`))
	must.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	request.Host = header["Host"]
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	must.NoError(t, err)
	return response
}

// On a real server: its checks, and its end while a page gets events.
func TestOnAServer(t *testing.T) {
	f := newFixture(t, newOptions(t, fake.NewClientset(configMap("a", "1", "web"))))
	server, err := web.Start(f.XRay.ctx, "127.0.0.1:0", f.Pages())
	must.NoError(t, err)
	withToken := func(name, value string) map[string]string {
		return map[string]string{"X-Xray-Token": f.view.Token, name: value}
	}
	for _, test := range []struct {
		method, path string
		header       map[string]string
		want         int
	}{
		{method: "GET", path: "/xray", want: 200},
		{method: "HEAD", path: "/xray/events", want: 200},
		{method: "GET", path: "/xray/none", want: 404},
		{method: "GET", path: "/xray/do", want: 405},
		{method: "POST", path: "/xray/state", want: 405},
		{method: "POST", path: "/xray/do", want: 403},
		{method: "POST", path: "/xray/do", header: map[string]string{"X-Xray-Token": f.view.Token}, want: 200},
		{method: "POST", path: "/xray/do", header: withToken("Origin", server.URL()), want: 200},
		{method: "POST", path: "/xray/do", header: withToken("Origin", "http://evil.example"), want: 403},
		{method: "POST", path: "/xray/do", header: withToken("Origin", "null"), want: 403},
		{method: "POST", path: "/xray/do", header: withToken("Host", "evil.example"), want: 421},
		{method: "GET", path: "/xray", header: map[string]string{"Origin": "http://evil.example"}, want: 403},
	} {
		response := send(t, server, test.method, test.path, test.header)
		response.Body.Close()
		if response.StatusCode != test.want {
			t.Errorf("%s %s %v: got %d, want %d", test.method, test.path, test.header, response.StatusCode, test.want)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s %s %v: header %s is %q, want %q", test.method, test.path, test.header, name, got, want)
			}
		}
	}

	events := send(t, server, "GET", "/xray/events", nil)
	defer events.Body.Close()
	_, err = io.ReadFull(events.Body, make([]byte, len("data: ")))
	must.NoError(t, err)
	f.stop()
	must.NoError(t, server.Wait())
	if _, err := io.ReadAll(events.Body); err != nil {
		t.Errorf("the events end with %v, want no error", err)
	}
}
