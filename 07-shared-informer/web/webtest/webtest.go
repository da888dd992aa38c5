// Package webtest sends hostile requests to a server of package web, byte by
// byte as the test wants them, and judges the answers.
package webtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience is how long an answer may take before the test says that it hangs.
const patience = 20 * time.Second

// Request returns the bytes of a request, whatever the parts hold. headers are
// whole lines.
func Request(method, path, query string, headers ...string) []byte {
	if query != "" {
		path += "?" + query
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\n%s\r\n\r\n", method, path, strings.Join(headers, "\r\n"))
}

// Send sends the bytes, which are to be no more than 256 KiB, over a connection
// of their own and returns the status of the first answer. The test fails if
// there is none, if it is no JSON, a redirect or a 5xx, or if it is an error
// that does not say which.
func Send(t testing.TB, url string, request []byte) int {
	t.Helper()
	response, body, err := exchange(strings.TrimPrefix(url, "http://"), request)
	if err == nil {
		err = judge(response, body)
	}
	if err != nil {
		t.Fatalf("%v\nrequest: %.2000q\nanswer: %+v\n%.500q", err, request, response, body)
	}
	return response.StatusCode
}

func exchange(address string, request []byte) (*http.Response, []byte, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetLinger(0) // 10,000 closed connections would use up the ports
	conn.SetDeadline(time.Now().Add(patience))
	conn.Write(request) // may fail where the server has read enough, and has answered

	method, _, _ := bytes.Cut(request, []byte(" "))
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: string(method)})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the answer: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return response, body, fmt.Errorf("reading the answer's body: %w", err)
	}
	return response, body, nil
}

func judge(response *http.Response, body []byte) error {
	if kind := response.Header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
		return fmt.Errorf("content type %q", kind)
	}
	if status := response.StatusCode; status != http.StatusOK && (status < 400 || status > 499) {
		return fmt.Errorf("status %d", status)
	}
	if response.Request.Method == http.MethodHead {
		return nil
	}
	var failure struct{ Error string }
	switch {
	case !json.Valid(body):
		return errors.New("no JSON")
	case response.StatusCode != http.StatusOK && (json.Unmarshal(body, &failure) != nil || failure.Error == ""):
		return errors.New("an error without its text")
	}
	return nil
}
