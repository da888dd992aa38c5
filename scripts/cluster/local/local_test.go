// Tests of a whole control plane, the real one: its life, and what is left of it
// when parts of it are killed. The first test on a machine builds it.

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// newControlPlane starts one and, at the end, checks that nothing of it is left.
func newControlPlane(t *testing.T, opts Options) *ControlPlane {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane, which may have to be built")
	}
	t.Setenv("KUBEBUILDER_ASSETS", "") // the one that is built here, whatever the user has set
	opts.Dir = t.TempDir()
	opts.Progress = os.Stderr
	cp, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

func clientFor(t *testing.T, cp *ControlPlane) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cp.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) })
	client, err := kubernetes.NewForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestControlPlane(t *testing.T) {
	ctx := t.Context()
	cp := newControlPlane(t, Options{})
	client := clientFor(t, cp)

	if v, err := client.Discovery().ServerVersion(); err != nil || v.GitVersion != "v1.37.1" || v.Minor != "37" {
		t.Errorf("version %v, %v", v, err)
	}
	podLife(t, client)

	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Component{APIServer, Etcd} {
		before := cp.PID(c)
		if err := cp.Kill(c); err != nil {
			t.Fatal(err)
		}
		if cp.PID(c) != 0 {
			t.Errorf("%s has a pid after its death", c)
		}
		if err := cp.Restart(ctx, c); err != nil {
			t.Fatal(err)
		}
		if now := cp.PID(c); now == 0 || now == before {
			t.Errorf("%s was pid %d and is %d now", c, before, now)
		}
		// the same port, token and CA: the client need not know
		got, err := client.CoreV1().ConfigMaps("default").Get(ctx, "kept", metav1.GetOptions{})
		if err != nil || got.Data["a"] != "b" {
			t.Errorf("after kill -9 of %s: %v, %v", c, got.Data, err)
		}
	}
	podLife(t, client) // the other components found their way back

	var pids []int
	for _, c := range all {
		pids = append(pids, cp.PID(c))
	}
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	for i, pid := range pids {
		if pid == 0 || alive(pid) {
			t.Errorf("%s, pid %d, is alive after Stop", all[i], pid)
		}
	}
	if err := cp.Stop(); err != nil {
		t.Errorf("stopping twice: %v", err)
	}
}

// podLife runs a pod and deletes it, and compares the phases on the way.
func podLife(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pods := client.CoreV1().Pods("default")
	w, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	grace := int64(1)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "nettool"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: "nettool", Image: "registry.k8s.io/pause:3.10.2"}},
		},
	}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var life []string
	for event := range w.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("%s %v", event.Type, event.Object)
		}
		life = append(life, fmt.Sprintf("%s %s", event.Type, pod.Status.Phase))
		if event.Type == watch.Deleted {
			break
		}
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{"ADDED Pending", "MODIFIED Pending", "MODIFIED Running", "MODIFIED Succeeded", "DELETED Succeeded"}
	if got := slices.Compact(life); !slices.Equal(got, want) {
		t.Errorf("the pod's life: %q, want %q", got, want)
	}
}

func TestAPIOnly(t *testing.T) {
	ctx := t.Context()
	cp := newControlPlane(t, Options{APIOnly: true, APIServerArgs: []string{"--request-timeout=77s"}})
	client := clientFor(t, cp)
	if cp.PID(Node) != 0 || cp.PID(Controllers) != 0 || cp.PID(Scheduler) != 0 {
		t.Error("more than the API runs")
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "idle"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "idle", Image: "none"}}},
	}
	if _, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}

	t.Run("frozen", func(t *testing.T) {
		if err := cp.Signal(APIServer, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true,
			func(ctx context.Context) (bool, error) {
				short, cancel := context.WithTimeout(ctx, 300*time.Millisecond) // it may take a moment to freeze
				defer cancel()
				_, err := client.CoreV1().Pods("default").Get(short, "idle", metav1.GetOptions{})
				return errors.Is(err, context.DeadlineExceeded), nil
			})
		if err != nil {
			t.Errorf("frozen, and yet it answers: %v", err)
		}
		if err := cp.Signal(APIServer, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().Pods("default").Get(ctx, "idle", metav1.GetOptions{}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
	t.Run("closed to others", func(t *testing.T) { closedToOthers(t, cp) })
	t.Run("port taken", func(t *testing.T) { portTaken(t, cp) })
	t.Run("left out", func(t *testing.T) { leftOut(t, cp, client) })
}

func TestNoControllers(t *testing.T) {
	cp := newControlPlane(t, Options{NoControllers: true})
	client := clientFor(t, cp)
	if cp.PID(Controllers) != 0 || cp.PID(Scheduler) == 0 || cp.PID(Node) == 0 {
		t.Error("not all but the controllers runs")
	}
	_, err := client.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("somebody has made a service account: %v", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), account,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	podLife(t, client)
}

// closedToOthers knocks without a token, and at files that only the owner may read.
func closedToOthers(t *testing.T, cp *ControlPlane) {
	config, err := clientcmd.BuildConfigFromFlags("", cp.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	httpClient, err := rest.HTTPClientFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	defer utilnet.CloseIdleConnectionsFor(httpClient.Transport)
	nobody, err := kubernetes.NewForConfigAndClient(rest.AnonymousClientConfig(config), httpClient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nobody.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("without a token: %v", err)
	}
	info, err := os.Stat(dataDir(cp.opts.Dir))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of etcd's socket: %v, %v", info.Mode(), err)
	}
	logs, err := filepath.Glob(filepath.Join(logDir(cp.opts.Dir), "*.log"))
	if err != nil || len(logs) != 2 {
		t.Errorf("logs: %v, %v", logs, err)
	}
}

// portTaken has another process take the API server's port while it is down.
func portTaken(t *testing.T, cp *ControlPlane) {
	if err := cp.Kill(APIServer); err != nil {
		t.Fatal(err)
	}
	if err := cp.Kill(APIServer); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("killing the dead: %v", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", cp.port)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	err = cp.Restart(t.Context(), APIServer)
	if !errors.Is(err, errPortBusy) || !strings.Contains(err.Error(), address) {
		t.Errorf("got %v", err)
	}
	l.Close()
	if err := cp.Restart(t.Context(), APIServer); err != nil {
		t.Errorf("free again: %v", err)
	}
	if err := cp.Restart(t.Context(), APIServer); err == nil || !strings.Contains(err.Error(), "running already") {
		t.Errorf("while it runs: %v", err)
	}
}

// leftOut starts the controllers, which APIOnly left out, for a while: they make
// a service account in every namespace.
func leftOut(t *testing.T, cp *ControlPlane, client kubernetes.Interface) {
	if err := cp.Restart(t.Context(), Controllers); err != nil {
		t.Fatal(err)
	}
	if cp.PID(Controllers) == 0 {
		t.Error("they have no pid")
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
			return err == nil, nil
		}); err != nil {
		t.Errorf("they do nothing: %v", err)
	}
	if err := cp.Kill(Controllers); err != nil || cp.PID(Controllers) != 0 {
		t.Errorf("pid %d after their death, %v", cp.PID(Controllers), err)
	}
}
