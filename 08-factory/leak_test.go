// The program's token and the data of Secrets must not leave the process.

package main

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// The API server answers a list with errors of different kinds. The token is on no page, not on the
// terminal, and not in the log. The same holds for the data of a Secret in an answer that cannot be
// decoded.
func TestNoTokenAndNoSecretComeOut(t *testing.T) {
	const (
		token  = "a-token-that-nobody-may-see"
		secret = "d2hhdC1pcy1pbi1hLXNlY3JldA=="
	)
	for name, list := range map[string]http.HandlerFunc{
		"401": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not you", http.StatusUnauthorized) },
		"403": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not you", http.StatusForbidden) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("<html>\x00\xff nothing that anybody knows"))
		},
		"half a JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"type":"ADDED","object":{"metadata":{"name":"key"},"data":{"password":%q}`, secret)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Header.Get("Authorization") != "Bearer "+token:
					t.Errorf("the request for %s has no token", r.URL)
				case r.URL.Query().Has("limit"), r.URL.Query().Has("watch"):
					list(w, r)
				default: // the namespace and the version of the server
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"metadata":{"name":"ns"},"major":"1","minor":"37","gitVersion":"v1.37.0"}`)
				}
			}))
			defer server.Close()
			out := &record.Buffer{}
			cmd := must.CommandOutside(t, "-secrets", "-kubeconfig", kubeconfig(t, server, token), "http", "-follow",
				"-addr", "127.0.0.1:0")
			cmd.Stdout, cmd.Stderr = out, out
			defer func() { t.Logf("the program printed\n%s", out) }()
			must.NoError(t, cmd.Start())
			url := await(t, out, ownURL)
			await(t, out, regexp.MustCompile(`reflector\.go`)) // client-go has logged the failed list
			var answers []string
			for _, path := range []string{"/", "/pods/ns/web", "/secrets", "/secrets/ns/key", "/readyz", "/unicorns"} {
				_, body, err := get(t.Context(), url+path)
				must.NoError(t, err)
				answers = append(answers, path+": "+body)
			}
			must.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			_ = cmd.Wait() // the exit code does not matter here
			for _, text := range append(answers, out.String()) {
				if strings.Contains(text, token) {
					t.Errorf("the token is in\n%s", text)
				}
				if strings.Contains(text, secret) {
					t.Errorf("the data of the Secret is in\n%s", text)
				}
			}
		})
	}
}

// kubeconfig writes a kubeconfig with the token.
func kubeconfig(t *testing.T, server *httptest.Server, token string) (file string) {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file = filepath.Join(t.TempDir(), "kubeconfig")
	must.NoError(t, clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"c": {Server: server.URL, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*api.AuthInfo{"u": {Token: token}},
		Contexts:       map[string]*api.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "c",
	}, file))
	return file
}

// await waits until the output matches the pattern, and returns the match.
func await(t testing.TB, w *record.Buffer, pattern *regexp.Regexp) string {
	t.Helper()
	must.Until(t, "the program has printed "+pattern.String(), func() bool { return pattern.MatchString(w.String()) })
	return pattern.FindString(w.String())
}
