// The token, and those who do not have it.

package web

import (
	"net/http"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

func TestAToken(t *testing.T) {
	token := NewToken("hello", "open the other address")
	s := running(t, helloPages, token.Check)
	good := "hello=" + token.text
	for _, test := range []struct {
		method, target, cookie string
		status                 int
		want                   string // in the answer
	}{
		{"GET", "/pods", good, 200, `"query"`},
		{"GET", "/no/such/page", good, 404, "there is no page"},
		{"GET", "/?token=" + token.text, "", 303, ""},
		{"GET", "/?token=" + token.text, "hello=old", 303, ""},
		{"GET", "/pods", "", 403, `{"error":"open the other address"}`},
		{"GET", "/no/such/page", "", 403, "open the other address"},
		{"GET", "/pods", "hello=", 403, "open the other address"},
		{"GET", "/pods", "hello=" + token.text[1:], 403, "open the other address"},
		{"GET", "/pods", "other=" + token.text, 403, "open the other address"},
		{"GET", "/?token=", "", 403, "open the other address"},
		{"GET", "/?token=" + token.text[1:], "", 403, "open the other address"},
		{"GET", "/?token=x&token=" + token.text, "", 403, "open the other address"},
		{"POST", "/?token=" + token.text, "", 403, "open the other address"},
	} {
		request, err := http.NewRequest(test.method, s.URL()+test.target, nil)
		must.NoError(t, err)
		request.Header.Set("Cookie", test.cookie)
		status, header, body := send(t, request)
		if status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s %s with cookie %q: got %d %s, want %d and %s in it", test.method, test.target, test.cookie,
				status, body, test.status, test.want)
		}
		wantLocation, wantCookie := "", ""
		if test.status == 303 {
			wantLocation, wantCookie = "/", good+"; Path=/; HttpOnly; SameSite=Strict"
		}
		if got := header.Get("Location"); got != wantLocation {
			t.Errorf("%s %s: Location is %q, want %q", test.method, test.target, got, wantLocation)
		}
		if got := header.Get("Set-Cookie"); got != wantCookie {
			t.Errorf("%s %s: Set-Cookie is %q, want %q", test.method, test.target, got, wantCookie)
		}
	}
	for target, again := range map[string]string{"/pods?a=1": "/pods?a=1", "/?token=old": "/", "/%3Cb%3E": "/%3Cb%3E"} {
		request, err := http.NewRequest("GET", s.URL()+target, nil)
		must.NoError(t, err)
		request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8") // as of a browser that opens a page
		status, header, body := send(t, request)
		if status != 403 || header.Get("Content-Type") != "text/html; charset=utf-8" ||
			!strings.Contains(body, "open the other address") || !strings.Contains(body, `<a href="`+again+`">`) {
			t.Errorf("a browser opens %s: got %d %s, want 403, a page, the hint, and a link to %s",
				target, status, body,
				again)
		}
	}
	if got, want := token.Address("http://x"), "http://x/?token="+token.text; got != want {
		t.Errorf("Address() = %q, want %q", got, want)
	}
}
