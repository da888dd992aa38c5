// Package takehome makes the program of docs/take-home.md, as that page says.
package takehome

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/workspace"
)

// In an empty module, without the workspace and without a network, the steps build.
// The first shows a pod of the namespace that the kubeconfig names, until it is interrupted.
func TestAStepTakenHome(t *testing.T) {
	s := sessiontest.Open(t)
	gated := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}}, // nothing changes it
		Containers:      []corev1.Container{{Name: "web", Image: "registry.k8s.io/pause:3.10.2"}},
	}}
	_, err := s.Client.CoreV1().Pods(s.Namespace).Create(t.Context(), gated, metav1.CreateOptions{})
	must.Do(t, err)

	root, err := workspace.Root(".")
	must.Do(t, err)
	home := t.TempDir()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		must.Do(t, err)
		return string(text)
	}
	write := func(name, text string) { must.Do(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600)) }
	write("main.go", read("testdata/main.go"))
	write("go.sum", read(root+"/02-listwatch/go.sum"))
	run := func(program string, args ...string) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off")
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", program, args, err, output)
		}
	}
	const edit = `/harness/d; s/step\.Lesson/Lesson/`
	for _, file := range []string{ // those that the page names
		"02-listwatch/step_watch.go", "02-listwatch/step_discovery.go", "02-listwatch/step_stream.go",
		"03-reflector/step_pour.go", "08-factory/step_deployments.go",
	} {
		run("sh", "-c", fmt.Sprintf("sed '%s' '%s' > %s", edit, filepath.Join(root, file), filepath.Base(file)))
	}
	client := regexp.MustCompile(`k8s\.io/client-go v\S+`).FindString(read(root + "/02-listwatch/go.mod"))
	client = strings.Replace(client, " ", "@", 1)
	run("go", "mod", "init", "home")
	run("go", "get", client)
	run("go", "build", "-o", "home", ".")
	for _, line := range []string{"sed '" + edit + "' ", "go get " + client} {
		expect.That(t, strings.Contains(read("../../take-home.md"), line), "docs/take-home.md does not say %q", line)
	}

	program := exec.CommandContext(t.Context(), filepath.Join(home, "home"))
	program.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t, home, s.Config, s.Namespace))
	program.Stderr = os.Stderr
	stdout, err := program.StdoutPipe()
	must.Do(t, err)
	must.Do(t, program.Start())
	lines := bufio.NewScanner(stdout)
	want := "ADDED : web : Pending"
	expect.That(t, lines.Scan() && lines.Text() == want, "it printed %q, want %q", lines.Text(), want)
	must.Do(t, program.Process.Signal(os.Interrupt))
	must.Do(t, program.Wait())
}

// kubeconfig writes one for the cluster of config.
func kubeconfig(t *testing.T, dir string, config *rest.Config, namespace string) (file string) {
	t.Helper()
	config = rest.CopyConfig(config)
	must.Do(t, rest.LoadTLSFiles(config))
	written := api.NewConfig()
	written.Clusters["c"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	written.AuthInfos["me"] = &api.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		Token: config.BearerToken}
	written.Contexts["home"] = &api.Context{Cluster: "c", AuthInfo: "me", Namespace: namespace}
	written.CurrentContext = "home"
	file = filepath.Join(dir, "kubeconfig")
	must.Do(t, clientcmd.WriteToFile(*written, file))
	return file
}
