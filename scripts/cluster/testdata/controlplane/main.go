// Command controlplane takes the real one's place in tests of what scripts/cluster
// does with its processes: its API server only says that all is ready, and its
// other components do nothing.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

var answers = map[string]string{
	"/readyz":                    "ok",
	"/api/v1/namespaces/default": `{"kind":"Namespace","apiVersion":"v1"}`,
	"/api/v1/nodes": `{"kind":"NodeList","apiVersion":"v1","items":[
		{"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`,
	"/api/v1/namespaces/default/serviceaccounts/default":     `{"kind":"ServiceAccount","apiVersion":"v1"}`,
	"/api/v1/namespaces/default/configmaps/kube-root-ca.crt": `{"kind":"ConfigMap","apiVersion":"v1"}`,
}

func main() {
	if os.Args[1] != "kube-apiserver" {
		for {
			time.Sleep(time.Hour)
		}
	}
	flags := map[string]string{}
	for _, arg := range os.Args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		flags[name] = value
	}
	log.Fatal(http.ListenAndServeTLS("127.0.0.1:"+flags["--secure-port"],
		flags["--tls-cert-file"], flags["--tls-private-key-file"],
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answers[r.URL.Path])
		})))
}
