// Bad input and a server that cannot start, with their messages; and a server that runs until
// Ctrl-C.

package main

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	t.Cleanup(func() { listener.Close() }) // after the parallel subtests
	for address, message := range map[string]string{
		listener.Addr().String(): "address already in use",
		"nonsense":               "missing port in address",
	} {
		for _, args := range [][]string{{"http"}, {"http", "-follow"}} {
			t.Run(strings.Join(args, " ")+" "+message, func(t *testing.T) {
				t.Parallel()
				cmd := must.Command(t, append([]string{"-addr", address}, args...)...)
				must.ExitWith(t, cmd, 1, "listen tcp", address, message, "-addr")
			})
		}
	}
}

// The caches of a user who may not list never sync. The error names the types.
func TestATypeThatMayNotBeListed(t *testing.T) {
	s := sessiontest.Open(t)
	config := rest.CopyConfig(s.Config)
	config.Impersonate.UserName = "nobody"
	nobody, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	f := factory.New(nobody, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	f.ConfigMaps()
	f.Deployments()
	f.Start(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = f.WaitForCacheSync(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("WaitForCacheSync() = %v, want %v", err, context.DeadlineExceeded)
	}
	want := "configmaps, deployments.v1.apps (are they served, and may you list"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("WaitForCacheSync() = %v, want an error with %q", err, want)
	}
}

// The stores of a factory are empty if its namespace does not exist.
func TestANamespaceThatIsNotThere(t *testing.T) {
	s := sessiontest.Open(t)
	f := factory.New(s.Client, factory.Options{Namespace: "no-such-namespace"})
	defer f.Shutdown()
	configMaps := f.ConfigMaps().Informer()
	start(t, f)
	if keys := configMaps.GetStore().ListKeys(); len(keys) != 0 {
		t.Errorf("the store has %q, want nothing", keys)
	}
}

// start starts the informers of f, and waits until they have synced.
func start(t testing.TB, f *factory.Factory) {
	t.Helper()
	f.Start(t.Context())
	must.NoError(t, f.WaitForCacheSync(t.Context()))
}

// ownURL matches the address that the chapter prints.
var ownURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func TestFollowServesUntilCtrlC(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	cmd := must.Command(t, "http", "-follow", "-addr", "127.0.0.1:0")
	asked := false
	code := must.ReadLines(t, cmd, func(line string) {
		url := ownURL.FindString(line)
		if url == "" || asked {
			return
		}
		asked = true
		defer func() { must.NoError(t, cmd.Process.Signal(syscall.SIGINT)) }()
		must.Until(t, "the server is ready", func() bool {
			status, _, err := get(t.Context(), url+"/readyz")
			return err == nil && status == 200
		})
		status, body, err := get(t.Context(), url+"/")
		if status != 200 || body != "[]" || err != nil {
			t.Errorf("GET / = %d, %q, %v; want 200, an empty list, nil", status, body, err)
		}
	})
	if !asked {
		t.Error("the program has not printed its address")
	}
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
