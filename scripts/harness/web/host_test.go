// Requests for other hosts, and from pages of other servers.

package web

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/web/webtest"
)

func TestHosts(t *testing.T) {
	here := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4000}
	for _, test := range []struct {
		host, chosen string
		want         bool
	}{
		{"localhost", DefaultAddr, true},
		{"LocalHost:1", DefaultAddr, true}, // a forwarded port
		{"127.255.0.9", DefaultAddr, true},
		{"[::1]:4000", DefaultAddr, true},
		{"[::ffff:127.0.0.1]:4000", DefaultAddr, true},
		{"192.0.2.7:4000", ":4000", true}, // the address that the client has connected to
		{"pods.example:4000", "pods.example:4000", true},
		{"[2001:db8::1]:4000", "[2001:db8::1]:4000", true},

		{"", ":4000", false},
		{":4000", ":4000", false},
		{"192.0.2.8:4000", ":4000", false},
		{"pods.example:4000", DefaultAddr, false},
	} {
		if got := isOwnHost(test.host, test.chosen, here); got != test.want {
			t.Errorf("isOwnHost(%q, %q, %s) = %t, want %t", test.host, test.chosen, here, got, test.want)
		}
	}
	for _, host := range slices.Concat(webtest.ForeignHosts, webtest.MalformedHosts) {
		if isOwnHost(host, DefaultAddr, here) {
			t.Errorf("isOwnHost(%q, %q, %s) = true, want false", host, DefaultAddr, here)
		}
	}
}

func TestAnotherHostIsRefused(t *testing.T) {
	s := running(t, helloPages)
	for _, path := range []string{"/pods", "/no/such/page"} {
		for _, host := range webtest.ForeignHosts {
			status, _, body := do(t, "GET", s.URL()+path, host)
			want := fmt.Sprintf("this server does not answer for host %q: ask for %s", host, s.URL())
			var got struct{ Error string }
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 421 || got.Error != want {
				t.Errorf("%s at %s: got %d %s\nwant 421 %s", path, host, status, body, want)
			}
		}
	}
}

func TestAnotherOriginIsRefused(t *testing.T) {
	s := running(t, helloPages)
	for origin, want := range webtest.Origins(s.URL()) {
		request, err := http.NewRequest("GET", s.URL()+"/pods", nil)
		must.NoError(t, err)
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		response, err := client.Do(request)
		must.NoError(t, err)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("origin %q: got %d, want %d", origin, response.StatusCode, want)
		}
	}
}
