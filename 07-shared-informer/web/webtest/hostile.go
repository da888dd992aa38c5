// Random requests such as no friend sends.

package webtest

import (
	"math/rand/v2"
	"net/url"
	"strings"
)

var (
	methods = []string{"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PRI", "get", "G\x00T", "", "GET /x", "Ä"}

	// What can stand in a path, and what cannot.
	words = []string{"..", ".", "", "%2e%2e", "%2F", "%2f..%2f..%2fetc%2fpasswd", "../../etc/passwd", "//evil.example", "\\", "%5c", "%00", "a%00b", "%0d%0aX:%20y", "%7f", "%c3%28", "%ff",
		"%C3%A4", "+", "%20", "*", ":name", ";", "%3f", "%23", "@", "~", "'", "%22", "<script>", "{}", "$(id)", "http://evil.example", strings.Repeat("a", 300), strings.Repeat("%41", 2000)}
	noise = []string{"\x00", "\r\n", "\n", "\x7f", " ", "%", "%zz", "#", "?", "\"", "ä"}

	queries = []string{"app", "app=", "=", "&&&", "app=1&app=2", "app=%00", "app=%zz", "app=a;b", "app=%ff", "app[]=1", "%61pp=x", "label=a%3Db", "app=\x01", strings.Repeat("a=b&", 2000)}
	hosts   = []string{"127.0.0.1:4000", "[::1]", "evil.example", "localhost.evil.example", "localhost@evil.example", "", "a\r\nHost: b", "[::", "localhost:99999999", "\x00"}
	headers = []string{"Connection: close", "Connection: upgrade\r\nUpgrade: websocket", "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999",
		"Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Expect: 100-continue", "Expect: miracles",
		"X-Forwarded-Prefix: //evil.example", "X-Forwarded-Host: evil.example", "X-Original-URL: /x", "X-HTTP-Method-Override: DELETE", "Range: bytes=0-",
		"If-None-Match: *", "Accept: text/html", "no colon", " : ", "A\x00: b", "A: b\x00", " folded", "Cookie: " + strings.Repeat("c", 5000), "X: " + strings.Repeat("x", 30000)}
)

// Hostile returns a random request that has something to do with one of the
// paths, such as "/pods". A few things are wrong with it, not all: it is to
// get past net/http more often than not.
func Hostile(random *rand.Rand, paths ...string) []byte {
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	oneIn := func(n int) bool { return random.IntN(n) == 0 }

	method, path, query, lines := "GET", pick(paths), "", []string{"Host: localhost"}
	for range random.IntN(4) {
		switch at := random.IntN(len(path) + 1); random.IntN(4) {
		case 0:
			path = path[:at] + pick(words) + path[at:]
		case 1:
			path += "/" + url.PathEscape(string(randomBytes(random)))
		default:
			path += "/" + pick(words)
		}
	}
	if oneIn(15) {
		path += pick(noise)
	}
	if oneIn(30) {
		path += string(randomBytes(random))
	}
	if oneIn(6) {
		method = pick(methods)
	}
	if oneIn(3) {
		query = pick(queries)
	}
	if oneIn(6) {
		lines[0] = "Host: " + pick(hosts)
	}
	for oneIn(4) {
		lines = append(lines, pick(headers))
	}
	return Request(method, path, query, lines...)
}

func randomBytes(random *rand.Rand) []byte {
	text := make([]byte, 1+random.IntN(20))
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return text
}
