// Requests that mean no good, as bytes.

package web

import (
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/informer/07-shared-informer/web/webtest"
)

var helloPaths = []string{"/", "/pods", "/indexes", "/indexes/by/x", "/x", "/x/all"}

func TestTenThousandHostileRequests(t *testing.T) {
	s, stop := running(t, Options{}, helloPages)
	var mu sync.Mutex
	statuses := map[int]int{}
	t.Run("clients", func(t *testing.T) {
		for client := range uint64(8) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(1, client))
				for range 1250 {
					status := webtest.Send(t, s.URL(), webtest.Hostile(random, helloPaths...))
					mu.Lock()
					statuses[status]++
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("statuses %v", statuses)
	for _, status := range []int{200, 400, 404, 405, 414, 417, 421, 431} {
		if statuses[status] == 0 {
			t.Errorf("not one of them was answered with %d", status)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func FuzzRequests(f *testing.F) {
	s, _ := running(f, Options{}, helloPages)
	f.Add("GET", "/pods", "app=x", "Host: localhost")
	f.Add("HEAD", "/indexes/by/a%2Fb", "", "Host: 127.0.0.1:4000\r\nContent-Length: 5")
	f.Add("POST", "/%2e%2e/%00", "app=%zz", "Host: evil.example")
	f.Add("OPTIONS", "*", "", "Host: localhost\r\nTransfer-Encoding: chunked")
	f.Add("CONNECT", "localhost:4000", "", "Host: [::1]\r\nExpect: 100-continue")
	f.Add("GET", "http://localhost", "&&", "Host: x")
	f.Add("GET", "/pods", "", "Host: localhost\r\nTransfer-Encoding: gzip")
	f.Add("GET", "/pods HTTP/3.1\r\nHost: localhost\r\n", "", "Expect: x")
	f.Fuzz(func(t *testing.T, method, path, query, headers string) {
		if request := webtest.Request(method, path, query, headers); len(request) < 64<<10 {
			webtest.Send(t, s.URL(), request)
		}
	})
}
