package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// Each user of the machine can reach the step's server. The server answers only requests that have
// its secret path.
func TestOnlyWhoKnowsTheAddressMayWrite(t *testing.T) {
	s := sessiontest.Open(t)
	reader, writer := io.Pipe()
	must.Run(t, func(ctx context.Context) {
		lesson := &step.Lesson{
			Lesson:    &play.Lesson{Out: writer},
			Client:    s.Client,
			Config:    s.Config,
			Namespace: s.Namespace,
		}
		writer.CloseWithError(stepDynamic(ctx, lesson))
	})
	line, err := bufio.NewReader(reader).ReadString('\n')
	must.Do(t, err)
	served, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(line, "serving at ")))
	must.Do(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	statusOf := func(method, path, body string) int {
		address := "http://" + served.Host + path
		request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		must.Do(t, err)
		response, err := client.Do(request)
		must.Do(t, err)
		response.Body.Close()
		return response.StatusCode
	}
	const weather = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"weather"}}`
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/configmaps", weather, http.StatusNotFound},
		{"POST", "/guess/configmaps", weather, http.StatusNotFound},
		{"GET", "/configmaps", "", http.StatusNotFound},
		{"GET", served.Path + "/configmaps/weather", "", http.StatusNotFound},
		{"POST", served.Path + "/configmaps", weather, http.StatusCreated},
		{"DELETE", "/configmaps/weather", "", http.StatusNotFound},
		{"DELETE", served.Path + "/configmaps/weather", "", http.StatusOK},
	} {
		if got := statusOf(test.method, test.path, test.body); got != test.want {
			t.Errorf("%s %s: status %d, want %d", test.method, test.path, got, test.want)
		}
	}
}
