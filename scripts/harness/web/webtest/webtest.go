// Package webtest has requests of attackers, for the tests of every server that package web serves.
package webtest

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// ForeignHosts are hosts that a server on the loopback interface does not answer for. A page whose
// own name leads to 127.0.0.1 asks for such a host.
var ForeignHosts = []string{
	"evil.example:4000", "localhost.evil.example", "127.0.0.1.evil.example", "2130706433", "0.0.0.0:4000",
	"pods.example:4000",
}

// MalformedHosts are hosts that Go's client does not send.
var MalformedHosts = []string{"", "localhost/evil.example", "evil.example@localhost", "localhost@evil.example"}

// Origins are the origins of requests, each with the status of the answer. The server with this
// URL answers with 200 to the same request without an origin.
func Origins(url string) map[string]int {
	return map[string]int{
		"":  200, // no page sent the request
		url: 200,

		"null":                                   403,
		"http://evil.example":                    403,
		strings.Replace(url, "http", "https", 1): 403,
		url + ".evil.example":                    403,
	}
}

// AddRequests adds requests to a fuzz test, whose arguments are a method, a target and a host: odd
// requests for these paths, and for others.
func AddRequests(f *testing.F, paths ...string) {
	for _, path := range paths {
		for _, suffix := range []string{
			"", "/", "/..", "/%2e%2e/x", "/%2fetc%2fpasswd", "//evil.example", "/%5c", "/%00", "/%0d%0aX:%20y", "/%ff",
			"/:name", "/*", ";", "/<script>", "/" + strings.Repeat("%41", 2000),
			"?app", "?app=%zz", "?app=a;b", "?app=1&app=2", "?app[]=1", "?&&&",
		} {
			f.Add("GET", path+suffix, "localhost")
		}
		for _, method := range []string{"HEAD", "POST", "OPTIONS", "CONNECT", "get"} {
			f.Add(method, path, "[::1]:4000")
		}
		f.Add("GET", "http://evil.example"+path, "localhost")
		f.Add("GET", path, "evil.example@localhost")
	}
	f.Add("OPTIONS", "*", "localhost")
	f.Add("CONNECT", "localhost:4000", "localhost")
}

// Request returns a request as a server gets it, or nil if net/http refuses it.
func Request(method, target, host string) *http.Request {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", method, target, host)
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		return nil
	}
	return request
}
