// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

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

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBadKubeconfig(t *testing.T) {
	somewhere := kubeconfig(t, &rest.Config{Host: "https://127.0.0.1:1"}, "x")
	for _, test := range []struct {
		name  string
		env   []string
		args  []string
		code  int
		texts []string
	}{
		{"no cluster", nil, []string{"list"}, 1, []string{"no cluster chosen", "scripts/local-up.sh", "-kubeconfig"}},
		{"named by the flag, does not exist", nil, []string{"-kubeconfig", "/no/such", "list"}, 1,
			[]string{"/no/such", "-kubeconfig", "does not exist"}},
		{"named by the environment, does not exist", []string{"KUBECONFIG=/no/such"}, []string{"list"}, 1,
			[]string{"/no/such", "$KUBECONFIG", "does not exist"}},
		{"empty", nil, []string{"-kubeconfig", write(t, ""), "list"}, 1, []string{"is empty", "names no cluster"}},
		{"not YAML", nil, []string{"-kubeconfig", write(t, "\t{nonsense"), "list"}, 1,
			[]string{"cannot be read", "yaml"}},
		{"a directory", nil, []string{"-kubeconfig", t.TempDir(), "list"}, 1,
			[]string{"cannot be read", "is a directory"}},
		{"no such context", nil, []string{"-kubeconfig", somewhere, "-context", "there", "list"}, 1,
			[]string{`no context "there"`, "it has: here"}},
		{"nobody listens", nil, []string{"-kubeconfig", somewhere, "list"}, 1,
			[]string{"https://127.0.0.1:1", "connection refused", "scripts/local-up.sh"}},
		{"unknown step", nil, []string{"lisst"}, 2,
			[]string{`no step "lisst"`, "clientset, dynamic, discovery, list,"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := stepstest.Outside(t, test.args...)
			cmd.Env = append(cmd.Env, test.env...)
			stepstest.WantExit(t, cmd, test.code, test.texts...)
		})
	}
}

func TestHomeKubeconfigIsNeverReadByAccident(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	production := kubeconfig(t, &rest.Config{Host: "https://127.0.0.1:1"}, "x")
	if err := os.Rename(production, filepath.Join(home, ".kube", "config")); err != nil {
		t.Fatal(err)
	}
	cmd := stepstest.Outside(t, "list")
	cmd.Env = append(cmd.Env, "HOME="+home)
	stepstest.WantExit(t, cmd, 1, "no cluster chosen")
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file := kubeconfig(t, &rest.Config{Host: "https://" + listener.Addr().String()}, "x")
	start := time.Now()
	stepstest.WantExit(t, stepstest.Outside(t, "-kubeconfig", file, "list"), 1, "did not answer in time",
		"scripts/local-up.sh")
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v to say so, want about 10s", took)
	}
}

func TestARefusedToken(t *testing.T) {
	cluster := kubetest.Need(t)
	cmd := stepstest.Outside(t, "-kubeconfig", kubeconfig(t, cluster.Config, "wrong"), "list")
	stderr := stepstest.WantExit(t, cmd, 1, "refused the credentials", "401")
	if strings.Contains(stderr, "wrong") {
		t.Errorf("stderr shows the token:\n%s", stderr)
	}
}

func TestAForbiddenVerb(t *testing.T) {
	s := kubetest.Open(t)
	token, err := s.Clientset.CoreV1().ServiceAccounts(s.Namespace).CreateToken(t.Context(), "default",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := stepstest.Outside(t, "-kubeconfig", kubeconfig(t, s.Config, token.Status.Token), "list")
	stepstest.WantExit(t, cmd, 1, "forbids this", `cannot create resource "namespaces"`, "scripts/local-up.sh")
}
