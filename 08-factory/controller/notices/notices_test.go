package notices_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

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
	survival.SideBySide()
	goleak.VerifyTestMain(m)
}

// The rights in role.yaml are enough for the controller.
func TestRights(t *testing.T) {
	s := sessiontest.Open(t)
	kubectl := func(command string, args ...string) {
		t.Helper()
		_, err := s.Kubectl(t.Context(), os.DirFS(".."), command, args...)
		must.NoError(t, err)
	}
	for _, file := range []string{"notices.yaml", "role.yaml", "picnic.yaml"} {
		kubectl("apply", "--server-side", "-f", file)
	}
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + s.Namespace + ":default"}
	must.Run(t, func(ctx context.Context) {
		must.NoError(t, notices.Run(ctx, config, s.Namespace, notices.Options{Lease: "notices"}))
	})
	kubectl("wait", "notice/picnic", "--for=jsonpath={.status.copies}=2")
	kubectl("delete", "notice", "picnic")
	kubectl("wait", "notice/picnic", "--for=delete")
	// The recorder writes Events in the background.
	must.Until(t, "the controller has recorded an Event of a copy that it created", func() bool {
		events, err := s.Client.EventsV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{})
		must.NoError(t, err)
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Reason == "Created" })
	})
}
