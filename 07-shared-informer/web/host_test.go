package web

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	here := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4000}
	for _, test := range []struct {
		host, chosen string
		own          bool
	}{
		{"localhost", DefaultAddr, true},
		{"LocalHost:4000", DefaultAddr, true},
		{"localhost:1", DefaultAddr, true}, // a forwarded port
		{"127.0.0.1:4000", DefaultAddr, true},
		{"127.255.0.9", DefaultAddr, true},
		{"[::1]", DefaultAddr, true},
		{"[::1]:4000", DefaultAddr, true},
		{"[::ffff:127.0.0.1]:4000", DefaultAddr, true},
		{"192.0.2.7:4000", ":4000", true}, // where the client has connected to
		{"pods.example:4000", "pods.example:4000", true},
		{"[2001:db8::1]:4000", "[2001:db8::1]:4000", true},

		{"", DefaultAddr, false},
		{"", ":4000", false},
		{":4000", ":4000", false},
		{"evil.example", DefaultAddr, false},
		{"evil.example:4000", DefaultAddr, false},
		{"localhost.evil.example", DefaultAddr, false},
		{"127.0.0.1.evil.example", DefaultAddr, false},
		{"evil.example@localhost", DefaultAddr, false},
		{"localhost@evil.example", DefaultAddr, false},
		{"localhost/evil.example", DefaultAddr, false},
		{"localhost:evil", DefaultAddr, false},
		{"%6cocalhost", DefaultAddr, false},
		{"localhost.", DefaultAddr, false},
		{"127.1", DefaultAddr, false},
		{"2130706433", DefaultAddr, false},
		{"0.0.0.0:4000", DefaultAddr, false},
		{"192.0.2.8:4000", ":4000", false},
		{"[::1", DefaultAddr, false},
		{"pods.example:4000", DefaultAddr, false},
	} {
		if got := isOwn(test.host, test.chosen, here); got != test.own {
			t.Errorf("listening on %s: host %q: got %t, want %t", test.chosen, test.host, got, test.own)
		}
	}
}

func TestAnotherHostIsRefused(t *testing.T) {
	s, _ := running(t, Options{}, helloPages)
	for _, path := range []string{"/pods", "/no/such/page"} {
		request, err := http.NewRequest(http.MethodGet, s.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "evil.example"
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		response.Write(&body)
		response.Body.Close()
		want := `{"error":"this server does not answer for host \"evil.example\": ask for ` + s.URL() + `"}`
		if response.StatusCode != http.StatusMisdirectedRequest || !strings.HasSuffix(body.String(), want) {
			t.Errorf("%s: got %s\nwant 421 and %s", path, body.String(), want)
		}
	}
}
