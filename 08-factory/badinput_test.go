// What the chapter says when it cannot do its work, and how it serves until Ctrl-C.

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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step/steptest"
)

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{busy.Addr().String(): "address already in use",
		"nonsense": "missing port in address"} {
		for _, args := range [][]string{{"http"}, {"http", "-follow"}} {
			t.Run(strings.Join(args, " ")+" "+says, func(t *testing.T) {
				t.Parallel()
				cmd := steptest.Command(t, append([]string{"-addr", address}, args...)...)
				steptest.WantExit(t, cmd, 1, "listen tcp", address, says, "-addr")
			})
		}
	}
}

// A user who may not list ConfigMaps waits in vain; the error says for what.
func TestATypeThatMayNotBeListed(t *testing.T) {
	s := sessiontest.Open(t)
	config := rest.CopyConfig(s.Config)
	config.Impersonate.UserName = "nobody"
	nobody, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	f := factory.New(nobody, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	f.ConfigMaps()
	f.Deployments()
	f.Start(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = f.WaitForCacheSync(ctx)
	if !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "configmaps, deployments.v1.apps (are they served, and may you list") {
		t.Errorf("got %v", err)
	}
}

// A factory that looks at a namespace that is not there has empty stores.
func TestANamespaceThatIsNotThere(t *testing.T) {
	s := sessiontest.Open(t)
	f := factory.New(s.Client, factory.Options{Namespace: "no-such-namespace"})
	defer f.Shutdown()
	configMaps := f.ConfigMaps().Informer()
	start(t, f)
	keys := configMaps.GetStore().ListKeys()
	expect.That(t, len(keys) == 0, "it holds %q", keys)
}

// start starts what f was asked for, and waits for the first lists.
func start(t testing.TB, f *factory.Factory) {
	t.Helper()
	f.Start(t.Context())
	must.Do(t, f.WaitForCacheSync(t.Context()))
}

var ownURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func TestFollowServesUntilCtrlC(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	cmd := steptest.Command(t, "http", "-follow", "-addr", "127.0.0.1:0")
	cmd.Stdin = strings.NewReader("> the factory starts\n")
	asked := false
	code := steptest.ReadLines(t, cmd, func(line string) {
		url := ownURL.FindString(line)
		if url == "" || asked {
			return
		}
		asked = true
		defer func() { must.Do(t, cmd.Process.Signal(syscall.SIGINT)) }()
		must.Until(t, "it is ready", func() bool {
			status, _, err := get(t.Context(), url+"/readyz")
			return err == nil && status == 200
		})
		status, body, err := get(t.Context(), url+"/")
		expect.That(t, status == 200 && body == "[]\n" && err == nil, "%d %s %v, want no pods", status, body, err)
	})
	expect.That(t, code == 0 && asked, "exit code %d, it said where it serves: %t", code, asked)
}
