// An API server that fails on purpose.

package leaktest

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
)

// What must not come out: how the chapter proves who it is, and what is in a
// Secret.
const (
	token   = "a-token-that-nobody-may-see"
	content = "what-is-in-a-secret"
)

var encoded = base64.StdEncoding.EncodeToString([]byte(content)) // as it is in an object

// namespace is the one that the chapter gets.
const namespace = "informer-leaktest"

// A stage is how far the chapter comes before the API server fails.
type stage string

const (
	atOnce    stage = "at once"
	onLists   stage = "on lists"   // the chapter has its namespace
	onWatches stage = "on watches" // it has its lists, too
)

// A failure is how the API server answers when it fails.
type failure string

const (
	unauthorized failure = "401"
	forbidden    failure = "403"
	garbage      failure = "garbage"
	half         failure = "half a JSON" // of an event, with a Secret
	nobody       failure = "nobody there"
)

// apiServer has a pod and a Secret.
type apiServer struct {
	*httptest.Server
	stage   stage
	failure failure

	mu     sync.Mutex
	asked  []string // paths
	tokens bool     // all requests had the token
}

func newAPIServer(t testing.TB, stage stage, failure failure) *apiServer {
	s := &apiServer{stage: stage, failure: failure, tokens: true}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	if failure == nobody {
		s.Close()
	}
	return s
}

// kubeconfig is for somebody with the token.
func (s *apiServer) kubeconfig() string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return fmt.Sprintf(`{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],`+
		`"clusters":[{"name":"c","cluster":{"server":%q,"certificate-authority-data":%q}}],"users":[{"name":"u","user":{"token":%q}}]}`,
		s.URL, base64.StdEncoding.EncodeToString(ca), token)
}

func (s *apiServer) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.tokens = s.tokens && r.Header.Get("Authorization") == "Bearer "+token
	s.mu.Unlock()
	kind, listed := lists[path.Base(r.URL.Path)]
	listed = listed && r.Method == http.MethodGet
	watched := listed && r.URL.Query().Has("watch")
	first := watched && r.URL.Query().Has("sendInitialEvents") // a list, over a watch
	switch {
	case s.stage == atOnce, s.stage == onLists && listed, s.stage == onWatches && watched && !first:
		s.fail(w)
	case first: // it is to be asked for in the old way
		status(w, http.StatusUnprocessableEntity, "Invalid")
	case listed:
		version := strings.Join(strings.Split(r.URL.Path, "/")[2:4], "/") // of /apis/apps/v1/…
		if strings.HasPrefix(r.URL.Path, "/api/v1/") {
			version = "v1"
		}
		write(w, http.StatusOK, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, version, items[kind])
	case r.URL.Path == "/version":
		write(w, http.StatusOK, `{"major":"1","minor":"37","gitVersion":"v1.37.0"}`)
	default: // the namespace, and what the chapter waits for in it
		write(w, http.StatusOK, `{"metadata":{"name":%q}}`, namespace)
	}
}

// lists are the resources that a chapter may list, with their kinds.
var lists = map[string]string{
	"pods": "Pod", "configmaps": "ConfigMap", "services": "Service", "nodes": "Node", "secrets": "Secret",
	"deployments": "Deployment", "replicasets": "ReplicaSet",
}

var items = map[string]string{
	"Pod":    `{"metadata":{"name":"web","namespace":"` + namespace + `","labels":{"app":"web"},"resourceVersion":"1"}}`,
	"Secret": `{"metadata":{"name":"key","namespace":"` + namespace + `","resourceVersion":"1"},"data":{"password":"` + encoded + `"}}`,
}

func (s *apiServer) fail(w http.ResponseWriter) {
	switch s.failure {
	case unauthorized:
		status(w, http.StatusUnauthorized, "Unauthorized")
	case forbidden:
		status(w, http.StatusForbidden, "Forbidden")
	case garbage:
		w.Write([]byte("<html>\x00\xff nothing that anybody knows"))
	case half:
		write(w, http.StatusOK, `{"type":"ADDED","object":%s`, strings.TrimRight(items["Secret"], "}"))
	}
}

func status(w http.ResponseWriter, code int, reason string) {
	write(w, code, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not you","reason":%q,"code":%d}`, reason, code)
}

func write(w http.ResponseWriter, code int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, format, args...)
}
