// Tests of the errors of Open: one or two lines, with what to do next.

package session_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// wantOpenError opens a session, and wants an error of one or two lines that has each of these
// texts. It returns the text of the error.
func wantOpenError(t *testing.T, opts session.Options, texts ...string) string {
	t.Helper()
	s, err := session.Open(t.Context(), opts)
	if err == nil {
		must.NoError(t, s.Close(t.Context()))
		t.Fatalf("Open() = nil, want an error with %q", texts)
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines > 2 {
		t.Errorf("the error of Open has %d lines, want one or two:\n%v", lines, err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error of Open lacks %q:\n%v", text, err)
		}
	}
	return err.Error()
}

// write writes a file with this text, and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// kubeconfig writes a kubeconfig for a server, with a bearer token, and returns its path.
func kubeconfig(t *testing.T, server *rest.Config, token string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{
		Server:                   server.Host,
		CertificateAuthority:     server.CAFile,
		CertificateAuthorityData: server.CAData,
	}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["here"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "here"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.NoError(t, clientcmd.WriteToFile(*config, file))
	return file
}

// kindFirst is in each error that says how to start a cluster.
const kindFirst = "scripts/kind-up.sh, or without Docker with scripts/local-up.sh"

func TestBadKubeconfig(t *testing.T) {
	t.Chdir(t.TempDir()) // out of the workspace, which may have a cluster
	somewhere := kubeconfig(t, &rest.Config{Host: "https://127.0.0.1:1"}, "x")
	for _, test := range []struct {
		name  string
		env   string // KUBECONFIG
		opts  session.Options
		texts []string
	}{
		{name: "no cluster", texts: []string{"no cluster chosen", kindFirst, "-kubeconfig"}},
		{
			name:  "named by the flag, does not exist",
			opts:  session.Options{Kubeconfig: "/no/such"},
			texts: []string{"/no/such", "-kubeconfig", "does not exist"},
		},
		{
			name:  "named by the environment, does not exist",
			env:   "/no/such",
			texts: []string{"/no/such", "$KUBECONFIG", "does not exist"},
		},
		{
			name:  "the flag has priority over the environment",
			env:   somewhere,
			opts:  session.Options{Kubeconfig: "/no/such"},
			texts: []string{"/no/such", "-kubeconfig", "does not exist"},
		},
		{
			name:  "empty",
			opts:  session.Options{Kubeconfig: write(t, "")},
			texts: []string{"is empty", "names no cluster"},
		},
		{
			name:  "not YAML",
			opts:  session.Options{Kubeconfig: write(t, "\t{nonsense")},
			texts: []string{"cannot be read", "yaml"},
		},
		{
			name:  "a directory",
			opts:  session.Options{Kubeconfig: t.TempDir()},
			texts: []string{"cannot be read", "is a directory"},
		},
		{
			name:  "no such context",
			opts:  session.Options{Kubeconfig: somewhere, Context: "there"},
			texts: []string{"context", "there", "it has: here"},
		},
		{
			name:  "no current context",
			opts:  session.Options{Kubeconfig: write(t, "contexts: [{name: here, context: {}}]")},
			texts: []string{"Choose a context with -context", "it has: here"},
		},
		{
			name:  "nobody listens",
			opts:  session.Options{Kubeconfig: somewhere, Patience: sessiontest.Patience},
			texts: []string{"https://127.0.0.1:1", "connection refused", kindFirst},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			wantOpenError(t, test.opts, test.texts...)
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and sends nothing
	must.NoError(t, err)
	defer listener.Close()
	file := kubeconfig(t, &rest.Config{Host: "https://" + listener.Addr().String()}, "x")
	start := time.Now()
	wantOpenError(t, session.Options{Kubeconfig: file}, "did not answer in time", kindFirst)
	if took := time.Since(start); took < 10*time.Second {
		t.Errorf("Open() took %v, want 10s at least", took)
	}
}

func TestARefusedToken(t *testing.T) {
	s := sessiontest.Open(t)
	text := wantOpenError(t, session.Options{Kubeconfig: kubeconfig(t, s.Config, "wrong")},
		"refused the credentials", "401")
	if strings.Contains(text, "wrong") {
		t.Errorf("the error of Open shows the token:\n%s", text)
	}
}

func TestAForbiddenVerb(t *testing.T) {
	s := sessiontest.Open(t)
	token, err := s.Client.CoreV1().ServiceAccounts(s.Namespace).CreateToken(t.Context(), "default",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must.NoError(t, err)
	wantOpenError(t, session.Options{Kubeconfig: kubeconfig(t, s.Config, token.Status.Token)},
		"forbids this", `cannot create resource "namespaces"`, kindFirst)
}
