package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// through returns a proxy to a server that answers "hello", and a client that
// goes through it with a new connection for each request.
func through(t *testing.T) (p *Proxy, get func() (string, error)) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "hello")
	}))
	t.Cleanup(server.Close)
	p, change, err := NewFor(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	var config rest.Config
	change(&config)
	client := &http.Client{Transport: &http.Transport{DialContext: config.Dial, DisableKeepAlives: true}}
	return p, func() (string, error) {
		response, err := client.Get(server.URL)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
}

func TestCutAndMend(t *testing.T) {
	p, get := through(t)
	if body, err := get(); body != "hello" || err != nil {
		t.Errorf("at first: %q, %v", body, err)
	}
	p.Cut()
	if body, err := get(); err == nil {
		t.Errorf("cut: got %q, want an error", body)
	}
	p.Mend()
	if body, err := get(); body != "hello" || err != nil {
		t.Errorf("mended: %q, %v", body, err)
	}
}

func TestCutBreaksWhatIsOpen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p, err := New(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	p.Cut()
	for name, end := range map[string]net.Conn{"client": client, "server": server} {
		if _, err := end.Read(make([]byte, 1)); err == nil {
			t.Errorf("the %s's end is still open", name)
		}
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	p, err := New("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want that the proxy hangs up", err)
	}
}

func TestAddress(t *testing.T) {
	for server, want := range map[string]string{
		"https://127.0.0.1:6443": "127.0.0.1:6443",
		"https://example.com":    "example.com:443",
		"http://example.com":     "example.com:80",
		"example.com":            "",
		"https://%zz":            "",
	} {
		got, err := address(server)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("address(%q) = %q, %v; want %q", server, got, err, want)
		}
	}
}
