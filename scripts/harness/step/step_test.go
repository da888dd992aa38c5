// A step on a cluster that does not answer.

package step

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A kubectl that says its version, and nothing more.
func TestKubectlGetsNoAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch name := filepath.Base(r.URL.Path); {
		case r.Method == http.MethodPost && name == "namespaces":
			fmt.Fprint(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"informer-x"}}`)
		default: // what it waits for is there
			fmt.Fprint(w, `{"metadata":{}}`)
		}
	}))
	defer server.Close()
	config := api.NewConfig()
	config.Clusters["silent"] = &api.Cluster{Server: server.URL}
	config.Contexts["silent"] = &api.Context{Cluster: "silent"}
	config.CurrentContext = "silent"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, clientcmd.WriteToFile(*config, file))
	t.Setenv("KUBECONFIG", file)
	here := t.TempDir()
	t.Chdir(here)
	must.Do(t, os.WriteFile("kubectl", []byte(`#!/bin/sh
[ "$1" != version ] && sleep 1000
echo '{"clientVersion":{"gitVersion":"v1.37.0"},"serverVersion":{"gitVersion":"v1.37.0"}}'
`), 0o755))
	t.Setenv("PATH", here+":/bin:/usr/bin")
	const line = "$ kubectl run nettool --image=registry.k8s.io/pause:3.10.2"
	for name, transcript := range map[string]string{
		"above the start": line + "\n$ go run ./99-toy toy\n> somebody knocks\n",
		"below the start": "the door is there\n" + line + "\n> somebody knocks\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := Chapter{
				Name: "99-toy",
				Steps: []Step{{Name: "toy", Run: func(ctx context.Context, l *Lesson) error {
					fmt.Fprintln(l.Out, "the door is there")
					<-ctx.Done()
					return nil
				}}},
				Files: fstest.MapFS{"testdata/toy.txt": {Data: []byte(transcript)}},
			}.Played()
			err := c.Check(t.Context(), c.Steps[0], time.Second, func(string) {})
			if want := line + ": after 1s: it did not return"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
