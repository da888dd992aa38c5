package notices_test

import (
	"context"
	"fmt"
	"os"
	"slices"
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
	// The second error handler limits the rate of errors. The clock of a synctest bubble is years
	// behind, so that this handler would wait for years.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetLogger(klog.Logger{}) // this logger writes nothing
	goleak.VerifyTestMain(m)
}

func TestSurvival(t *testing.T) {
	controller := survival.Controller{
		Run: func(ctx context.Context, config *rest.Config, namespace string, newInformer survival.NewInformer) error {
			return notices.Run(ctx, config, namespace, notices.Options{NewInformer: newInformer})
		},
		Files:      os.DirFS(".."),
		Definition: "notices.yaml",
		Object:     "picnic.yaml",
		Resource:   "notice/picnic",
		Children:   copies("picnic", 2, "on Sunday"),
		Change:     `{"spec":{"text":"on Monday","copies":1}}`,
		Changed:    copies("picnic", 1, "on Monday"),
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

// copies returns the data of a notice's copies, by their names.
func copies(name string, n int, text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for i := range n {
		all[fmt.Sprintf("%s-%d", name, i)] = map[string]string{"text": text}
	}
	return all
}

// The rights in role.yaml are enough for the controller.
func TestRights(t *testing.T) {
	s := sessiontest.Open(t)
	kubectl := func(command string, args ...string) {
		t.Helper()
		_, err := s.Kubectl(t.Context(), os.DirFS(".."), command, args...)
		must.Do(t, err)
	}
	for _, file := range []string{"notices.yaml", "role.yaml", "picnic.yaml"} {
		kubectl("apply", "--server-side", "-f", file)
	}
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + s.Namespace + ":default"}
	must.Run(t, func(ctx context.Context) {
		must.Do(t, notices.Run(ctx, config, s.Namespace, notices.Options{Lease: "notices"}))
	})
	kubectl("wait", "notice/picnic", "--for=jsonpath={.status.copies}=2")
	kubectl("delete", "notice", "picnic")
	kubectl("wait", "notice/picnic", "--for=delete")
	// The recorder writes Events in the background.
	must.Until(t, "the controller has recorded an Event of a copy that it created", func() bool {
		events, err := s.Client.EventsV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{})
		must.Do(t, err)
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Reason == "Created" })
	})
}
