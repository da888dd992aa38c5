// Requests for other hosts, and from pages of other servers.

package web

import (
	"net"
	"net/http"
	"testing"

	"example.com/informer/scripts/harness/must"
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
		{"evil.example:4000", DefaultAddr, false},
		{"localhost.evil.example", DefaultAddr, false},
		{"127.0.0.1.evil.example", DefaultAddr, false},
		{"evil.example@localhost", DefaultAddr, false},
		{"localhost@evil.example", DefaultAddr, false},
		{"localhost/evil.example", DefaultAddr, false},
		{"2130706433", DefaultAddr, false},
		{"0.0.0.0:4000", DefaultAddr, false},
		{"192.0.2.8:4000", ":4000", false},
		{"pods.example:4000", DefaultAddr, false},
	} {
		if got := isOwnHost(test.host, test.chosen, here); got != test.want {
			t.Errorf("isOwnHost(%q, %q, %s) = %t, want %t", test.host, test.chosen, here, got, test.want)
		}
	}
}

func TestAnotherHostIsRefused(t *testing.T) {
	s := running(t, helloPages)
	want := `{"error":"this server does not answer for host \"evil.example\": ask for ` + s.URL() + `"}`
	for _, path := range []string{"/pods", "/no/such/page"} {
		status, _, body := do(t, "GET", s.URL()+path, "evil.example")
		if status != http.StatusMisdirectedRequest || body != want {
			t.Errorf("%s: got %d %s\nwant 421 %s", path, status, body, want)
		}
	}
}

func TestAnotherOriginIsRefused(t *testing.T) {
	s := running(t, helloPages)
	for origin, want := range map[string]int{
		"":                           200, // no page sent the request
		s.URL():                      200,
		"null":                       403,
		"http://evil.example":        403,
		"https://" + s.addr.String(): 403,
		s.URL() + ".evil.example":    403,
	} {
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
