// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/08-factory/factory"
)

func TestWithoutACluster(t *testing.T) {
	for _, args := range [][]string{{"factory"}, {"-addr", "nonsense", "http"}, {"-follow"}} {
		stepstest.WantExit(t, stepstest.Outside(t, args...), 1, "no cluster chosen", "scripts/local-up.sh",
			"-kubeconfig")
	}
	stepstest.WantExit(t, stepstest.Outside(t, "factories"), 2, `no step "factories"`, "factory, same, http,")
}

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	kubetest.Need(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{busy.Addr().String(): "address already in use",
		"nonsense": "missing port in address"} {
		for _, what := range []string{"http", "-follow"} {
			t.Run(what+" "+says, func(t *testing.T) {
				t.Parallel()
				stepstest.WantExit(t, stepstest.Command(t, "-addr", address, what), 1, "listen tcp", address, says,
					"-addr")
			})
		}
	}
}

// Somebody who may list ConfigMaps of no namespace waits in vain, and is told
// for what.
func TestATypeThatMayNotBeListed(t *testing.T) {
	s := kubetest.Open(t)
	nobody, err := s.With(func(config *rest.Config) { config.Impersonate.UserName = "nobody" })
	must(t, err)
	defer nobody.Cluster.Close()
	f := factory.New(nobody.Clientset, factory.Options{Namespace: s.Namespace})
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
	s := kubetest.Open(t)
	f := factory.New(s.Clientset, factory.Options{Namespace: "no-such-namespace"})
	defer f.Shutdown()
	configMaps := f.ConfigMaps().Informer()
	must(t, start(t.Context(), f))
	if keys := configMaps.GetStore().ListKeys(); len(keys) != 0 {
		t.Errorf("it holds %q", keys)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
