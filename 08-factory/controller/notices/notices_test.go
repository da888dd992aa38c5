package notices_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/08-factory/controller/survival"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestMain(m *testing.M) {
	// The second one waits, by a clock that a test in fake time sets back by years.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetLogger(klog.Logger{}) // one that says nothing
	goleak.VerifyTestMain(m)
}

func TestSurvival(t *testing.T) {
	controller := survival.Controller{
		Run:        notices.Run,
		Files:      os.DirFS(".."),
		Definition: "notices.yaml", Object: "picnic.yaml", Resource: "notice/picnic",
		Children: copies("picnic", 2, "on Sunday"),
		Change:   `{"spec":{"text":"on Monday","copies":1}}`,
		Changed:  copies("picnic", 1, "on Monday"),
	}
	t.Run("client-go's informers", func(t *testing.T) {
		t.Parallel()
		survival.Test(t, controller, cache.NewSharedIndexInformerWithOptions)
	})
	t.Run("our informers", func(t *testing.T) {
		t.Parallel()
		survival.Test(t, controller, func(lw cache.ListerWatcher, example runtime.Object,
			options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return informer.New(lw, example, options)
		})
	})
}

func copies(name string, n int, text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for i := range n {
		all[fmt.Sprintf("%s-%d", name, i)] = map[string]string{"text": text}
	}
	return all
}

// The rights in role.yaml are enough.
func TestRights(t *testing.T) {
	s := sessiontest.Open(t)
	for _, file := range []string{"notices.yaml", "role.yaml", "picnic.yaml"} {
		words := strings.Fields("apply --server-side -f " + file)
		_, err := s.Kubectl(t.Context(), os.DirFS(".."), words[0], words[1:]...)
		must.Do(t, err)
	}
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + s.Namespace + ":default"}
	must.Run(t, func(ctx context.Context) {
		must.Do(t, notices.Run(ctx, config, s.Namespace, cache.NewSharedIndexInformerWithOptions))
	})
	wait := func(args ...string) {
		t.Helper()
		_, err := s.Kubectl(t.Context(), os.DirFS(".."), "wait", args...)
		must.Do(t, err)
	}
	wait("notice/picnic", "--for=jsonpath={.status.copies}=2")
	_, err := s.Kubectl(t.Context(), os.DirFS(".."), "delete", "notice", "picnic")
	must.Do(t, err)
	wait("notice/picnic", "--for=delete")
	must.Until(t, "it has recorded an Event of a copy that it created", func() bool { // in the background
		events, err := s.Client.EventsV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{})
		must.Do(t, err)
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Reason == "Created" })
	})
}
