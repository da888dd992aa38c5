// Package takehome follows the instructions of docs/take-home.md, and runs the program.
package takehome

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/workspace"
)

// page is the page with the instructions.
const page = "../../take-home.md"

// edit is the sed script of the page, which makes a step independent of the workspace.
const edit = `/harness/d; s/step\.Env/Env/`

// The steps of the page build in an empty module, without the workspace, with the versions of the
// workspace, so that Go has compiled all packages already. The program shows a pod of the namespace
// that the kubeconfig names, until it is interrupted.
func TestAStepTakenHome(t *testing.T) {
	s := sessiontest.Open(t)
	gated := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}}, // so that its phase does not change
		Containers:      []corev1.Container{{Name: "web", Image: "registry.k8s.io/pause:3.10.2"}},
	}}
	_, err := s.Client.CoreV1().Pods(s.Namespace).Create(t.Context(), gated, metav1.CreateOptions{})
	must.NoError(t, err)

	home := t.TempDir()
	program := exec.CommandContext(t.Context(), build(t, home))
	program.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t, home, s.Config, s.Namespace))
	program.Stderr = os.Stderr
	stdout, err := program.StdoutPipe()
	must.NoError(t, err)
	must.NoError(t, program.Start())
	lines := bufio.NewScanner(stdout)
	lines.Scan() // at the end of the output, Text is empty
	if got, want := lines.Text(), "ADDED : web : Pending"; got != want {
		t.Errorf("the first line of the program is %q, want %q", got, want)
	}
	must.NoError(t, program.Process.Signal(os.Interrupt))
	must.NoError(t, program.Wait())
}

// build makes a module with the program and the steps of the page in a folder, and returns the path
// of its binary.
func build(t *testing.T, home string) (binary string) {
	t.Helper()
	root, err := workspace.Root(".")
	must.NoError(t, err)
	write := func(name, text string) { must.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600)) }
	run := func(flags, command string) (output string) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS="+flags, "GOSUMDB=off")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		return string(text)
	}
	write("main.go", read(t, "testdata/main.go"))
	for _, file := range stepsOnPage(t, root) {
		run("", fmt.Sprintf("sed '%s' '%s' > %s", edit, file, filepath.Base(file)))
	}
	if text := read(t, page); !strings.Contains(text, "sed '"+edit+"' ") {
		t.Errorf("docs/take-home.md has no command sed '%s'", edit)
	}
	requires := require.FindString(read(t, page))
	if requires == "" {
		t.Fatalf("docs/take-home.md has no command like %s", require)
	}
	run("", "go mod init home")
	run("", strings.ReplaceAll(requires, "INFORMER", "'"+root+"'"))
	run("-mod=mod", "go build -o home .")
	const list = "go list -deps -f '{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}' "
	own := strings.Fields(strings.ReplaceAll(run("-mod=mod", list+"."), " ", "@"))
	shared := strings.Fields(strings.ReplaceAll(run("", "cd '"+root+"' && "+list+"./02-listwatch"), " ", "@"))
	for _, module := range own {
		if !slices.Contains(shared, module) {
			t.Errorf("the program is built with %s, want a version of the workspace", module)
		}
	}
	return filepath.Join(home, "home")
}

var (
	require  = regexp.MustCompile(`(?s)go mod edit \$\(cd INFORMER .*?\| sort -u\)`)
	stepFile = regexp.MustCompile(`INFORMER/(\S+/step_\w+\.go)`)
	stepRow  = regexp.MustCompile(`(?m)^\| \[(\w+)\]\((\d\d)-`)
)

// stepsOnPage returns the files of the steps that the page names: in its command, and in its table
// of steps.
func stepsOnPage(t *testing.T, root string) (files []string) {
	t.Helper()
	text := read(t, page)
	for _, match := range stepFile.FindAllStringSubmatch(text, -1) {
		files = append(files, filepath.Join(root, match[1]))
	}
	for _, match := range stepRow.FindAllStringSubmatch(text, -1) {
		pattern := filepath.Join(root, match[2]+"-*", "step_"+match[1]+".go")
		found, err := filepath.Glob(pattern)
		must.NoError(t, err)
		if len(found) != 1 {
			t.Fatalf("%s matches %q, want one file", pattern, found)
		}
		files = append(files, found...)
	}
	if len(files) < 2 {
		t.Fatalf("docs/take-home.md names the steps %q, want several", files)
	}
	return files
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must.NoError(t, err)
	return string(text)
}

// kubeconfig writes a kubeconfig for the cluster of config, with a namespace, and returns its path.
func kubeconfig(t *testing.T, dir string, config *rest.Config, namespace string) (file string) {
	t.Helper()
	config = rest.CopyConfig(config)
	must.NoError(t, rest.LoadTLSFiles(config))
	written := api.NewConfig()
	written.Clusters["c"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	written.AuthInfos["me"] = &api.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		Token: config.BearerToken}
	written.Contexts["home"] = &api.Context{Cluster: "c", AuthInfo: "me", Namespace: namespace}
	written.CurrentContext = "home"
	file = filepath.Join(dir, "kubeconfig")
	must.NoError(t, clientcmd.WriteToFile(*written, file))
	return file
}
