// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/02-listwatch/kubetest"
)

// runChapter is set in the environment of a process that is to run the chapter.
const runChapter = "RUN_CHAPTER"

// run runs the chapter as a program, in a folder outside the workspace and
// with an environment that names no cluster, unless env does.
func run(t *testing.T, env []string, args ...string) (code int, stderr string, took time.Duration) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{runChapter + "=1", "HOME=" + cmd.Dir}, env...)
	cmd.Stderr = &errs
	start := time.Now()
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String(), time.Since(start)
}

// wantError wants an exit code, at most two lines, and each text in them.
func wantError(t *testing.T, gotCode int, stderr string, code int, texts ...string) {
	t.Helper()
	if gotCode != code {
		t.Errorf("exit code %d, want %d", gotCode, code)
	}
	if lines := strings.Count(stderr, "\n"); lines < 1 || lines > 2 {
		t.Errorf("%d lines on stderr, want one or two", lines)
	}
	for _, text := range texts {
		if !strings.Contains(stderr, text) {
			t.Errorf("stderr lacks %q", text)
		}
	}
	if t.Failed() {
		t.Logf("stderr:\n%s", stderr)
	}
}

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
		{"not YAML", nil, []string{"-kubeconfig", write(t, "\t{nonsense"), "list"}, 1, []string{"cannot be read", "yaml"}},
		{"a directory", nil, []string{"-kubeconfig", t.TempDir(), "list"}, 1, []string{"cannot be read", "is a directory"}},
		{"no such context", nil, []string{"-kubeconfig", somewhere, "-context", "there", "list"}, 1,
			[]string{`no context "there"`, "it has: here"}},
		{"nobody listens", nil, []string{"-kubeconfig", somewhere, "list"}, 1,
			[]string{"https://127.0.0.1:1", "connection refused", "scripts/local-up.sh"}},
		{"unknown step", nil, []string{"lisst"}, 2, []string{`no step "lisst"`, "clientset, dynamic, discovery, list,"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, stderr, _ := run(t, test.env, test.args...)
			wantError(t, code, stderr, test.code, test.texts...)
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
	code, stderr, _ := run(t, []string{"HOME=" + home}, "list")
	wantError(t, code, stderr, 1, "no cluster chosen")
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file := kubeconfig(t, &rest.Config{Host: "https://" + listener.Addr().String()}, "x")
	code, stderr, took := run(t, nil, "-kubeconfig", file, "list")
	wantError(t, code, stderr, 1, "did not answer in time", "scripts/local-up.sh")
	if took > 20*time.Second {
		t.Errorf("it took %v to say so, want about 10s", took)
	}
}

func TestARefusedToken(t *testing.T) {
	cluster := kubetest.Need(t)
	code, stderr, _ := run(t, nil, "-kubeconfig", kubeconfig(t, cluster.Config, "wrong"), "list")
	wantError(t, code, stderr, 1, "refused the credentials", "401")
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
	code, stderr, _ := run(t, nil, "-kubeconfig", kubeconfig(t, s.Config, token.Status.Token), "list")
	wantError(t, code, stderr, 1, "forbids this", `cannot create resource "namespaces"`, "scripts/local-up.sh")
}
