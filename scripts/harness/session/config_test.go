// What Open says when it cannot do its work: one or two lines, and what to do
// next.

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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// wantRefusal opens a session, and wants an error of one or two lines that has
// each text in it. It returns the error's text.
func wantRefusal(t *testing.T, opts session.Options, texts ...string) string {
	t.Helper()
	s, err := session.Open(t.Context(), opts)
	if err == nil {
		t.Fatal("it opened a session", s.Close(t.Context()))
	}
	lines := strings.Count(err.Error(), "\n") + 1
	expect.That(t, lines <= 2, "%d lines, want one or two:\n%v", lines, err)
	for _, text := range texts {
		expect.That(t, strings.Contains(err.Error(), text), "the error lacks %q:\n%v", text, err)
	}
	return err.Error()
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// kubeconfig writes a kubeconfig for a server, with a bearer token.
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
	must.Do(t, clientcmd.WriteToFile(*config, file))
	return file
}

func TestBadKubeconfig(t *testing.T) {
	t.Chdir(t.TempDir()) // out of the workspace, which may have a cluster
	somewhere := kubeconfig(t, &rest.Config{Host: "https://127.0.0.1:1"}, "x")
	for _, test := range []struct {
		name  string
		env   string
		opts  session.Options
		texts []string
	}{
		{"no cluster", "", session.Options{},
			[]string{"no cluster chosen", "scripts/local-up.sh", "-kubeconfig"}},
		{"named by the flag, does not exist", "", session.Options{Kubeconfig: "/no/such"},
			[]string{"/no/such", "-kubeconfig", "does not exist"}},
		{"named by the environment, does not exist", "/no/such", session.Options{},
			[]string{"/no/such", "$KUBECONFIG", "does not exist"}},
		{"the flag goes before the environment", somewhere, session.Options{Kubeconfig: "/no/such"},
			[]string{"/no/such", "-kubeconfig", "does not exist"}},
		{"empty", "", session.Options{Kubeconfig: write(t, "")}, []string{"is empty", "names no cluster"}},
		{"not YAML", "", session.Options{Kubeconfig: write(t, "\t{nonsense")}, []string{"cannot be read", "yaml"}},
		{"a directory", "", session.Options{Kubeconfig: t.TempDir()}, []string{"cannot be read", "is a directory"}},
		{"no such context", "", session.Options{Kubeconfig: somewhere, Context: "there"},
			[]string{"context", "there", "it has: here"}},
		{"no current context", "", session.Options{Kubeconfig: write(t, "contexts: [{name: here, context: {}}]")},
			[]string{"Choose a context with -context", "it has: here"}},
		{"nobody listens", "", session.Options{Kubeconfig: somewhere, Patience: sessiontest.Patience},
			[]string{"https://127.0.0.1:1", "connection refused", "scripts/local-up.sh"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			wantRefusal(t, test.opts, test.texts...)
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, says nothing
	must.Do(t, err)
	defer listener.Close()
	file := kubeconfig(t, &rest.Config{Host: "https://" + listener.Addr().String()}, "x")
	start := time.Now()
	wantRefusal(t, session.Options{Kubeconfig: file}, "did not answer in time", "scripts/local-up.sh")
	if took := time.Since(start); took < 10*time.Second {
		t.Errorf("it took only %v to say so, want 10s", took)
	}
}

func TestARefusedToken(t *testing.T) {
	s := sessiontest.Open(t)
	said := wantRefusal(t, session.Options{Kubeconfig: kubeconfig(t, s.Config, "wrong")},
		"refused the credentials", "401")
	expect.That(t, !strings.Contains(said, "wrong"), "the error shows the token:\n%s", said)
}

func TestAForbiddenVerb(t *testing.T) {
	s := sessiontest.Open(t)
	token, err := s.Client.CoreV1().ServiceAccounts(s.Namespace).CreateToken(t.Context(), "default",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must.Do(t, err)
	wantRefusal(t, session.Options{Kubeconfig: kubeconfig(t, s.Config, token.Status.Token)},
		"forbids this", `cannot create resource "namespaces"`, "scripts/local-up.sh")
}
