// The controller on a cluster.

package notices_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// open returns a session on a cluster that has the definition of notices. The notices that a test
// leaves behind lose their finalizers, so that the namespace can be removed.
func open(t *testing.T) (*session.Session, dynamic.ResourceInterface) {
	t.Helper()
	s := sessiontest.Open(t)
	_, err := s.Kubectl(t.Context(), os.DirFS(".."), "apply", "--server-side", "-f", "notices.yaml")
	must.NoError(t, err)
	_, err = s.Kubectl(t.Context(), os.DirFS(".."), "get", "notices") // waits until the type is served
	must.NoError(t, err)
	client, err := dynamic.NewForConfig(s.Config)
	must.NoError(t, err)
	resource := client.Resource(notices.Resource).Namespace(s.Namespace)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		left, err := resource.List(ctx, metav1.ListOptions{})
		must.NoError(t, err)
		for _, notice := range left.Items {
			_, err := resource.Patch(ctx, notice.GetName(), types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			must.NoError(t, err)
		}
	})
	return s, resource
}

func newNotice(name string, spec map[string]any) *unstructured.Unstructured {
	notice := &unstructured.Unstructured{Object: map[string]any{}}
	if spec != nil {
		notice.Object["spec"] = spec
	}
	notice.SetGroupVersionKind(notices.Resource.GroupVersion().WithKind(notices.Kind))
	notice.SetName(name)
	return notice
}

// waitForCopies waits until the ConfigMaps of the session's namespace have these copies.
func waitForCopies(t *testing.T, s *session.Session, count int, prefix string) {
	t.Helper()
	must.Until(t, fmt.Sprintf("there are %d copies %s*", count, prefix), func() bool {
		return len(namesOf(t, s, prefix)) == count
	})
}

// namesOf returns the names of the ConfigMaps whose names begin with prefix.
func namesOf(t *testing.T, s *session.Session, prefix string) sets.Set[string] {
	t.Helper()
	list, err := s.Client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	names := sets.New[string]()
	for _, configMap := range list.Items {
		if strings.HasPrefix(configMap.Name, prefix) {
			names.Insert(configMap.Name)
		}
	}
	return names
}

// The definition refuses a notice for which the controller could not make copies.
func TestWhatTheDefinitionRefuses(t *testing.T) {
	_, resource := open(t)
	for _, test := range []struct {
		name   string
		notice *unstructured.Unstructured
		want   string // in the error
	}{
		{"no spec", newNotice("picnic", nil), "spec: Required value"},
		{"no text", newNotice("picnic", map[string]any{}), "spec.text: Required value"},
		{"an empty text", newNotice("picnic", map[string]any{"text": ""}), "spec.text"},
		{"a long text", newNotice("picnic", map[string]any{"text": strings.Repeat("x", 10001)}), "spec.text: Too long"},
		{"a long name", newNotice(strings.Repeat("x", 251), map[string]any{"text": "hi"}), "metadata.name: Too long"},
		{"many copies", newNotice("picnic", map[string]any{"text": "hi", "copies": int64(101)}), "spec.copies"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := resource.Create(t.Context(), test.notice, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("creating it returns %v, want it to be invalid: %s", err, test.want)
			}
		})
	}
}

// A notice with the longest name that the definition accepts gets all its copies.
func TestTheLongestName(t *testing.T) {
	s, resource := open(t)
	runController(t, s)
	name := strings.Repeat("x", 250)
	_, err := resource.Create(t.Context(), newNotice(name, map[string]any{"text": "hi", "copies": int64(100)}),
		metav1.CreateOptions{})
	must.NoError(t, err)
	waitForCopies(t, s, 100, name)
}

// runController runs the controller until stop is called, or the test ends.
func runController(t *testing.T, s *session.Session) (stop func()) {
	t.Helper()
	return must.Run(t, func(ctx context.Context) {
		must.NoError(t, notices.Run(ctx, s.Config, s.Namespace, notices.Options{}))
	})
}

// With --cascade=orphan, the notice is removed, and its copies stay without an owner.
func TestCascadeOrphan(t *testing.T) {
	s, resource := open(t)
	runController(t, s)
	_, err := resource.Create(t.Context(), newNotice("picnic", map[string]any{"text": "hi", "copies": int64(2)}),
		metav1.CreateOptions{})
	must.NoError(t, err)
	waitForCopies(t, s, 2, "picnic-")
	_, err = s.Kubectl(t.Context(), os.DirFS(".."), "delete", "notice", "picnic", "--cascade=orphan")
	must.NoError(t, err)
	must.Until(t, "the notice is gone", func() bool {
		_, err := resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if diff := cmp.Diff(sets.New("picnic-0", "picnic-1"), namesOf(t, s, "picnic-")); diff != "" {
		t.Errorf("the copies differ (-want +got):\n%s", diff)
	}
}

// The controller ends as soon as all copies exist. The Events of all of them are there, and each
// names its copy.
func TestEventsOfTheLastWork(t *testing.T) {
	s, resource := open(t)
	stop := runController(t, s)
	_, err := resource.Create(t.Context(), newNotice("picnic", map[string]any{"text": "hi", "copies": int64(20)}),
		metav1.CreateOptions{})
	must.NoError(t, err)
	waitForCopies(t, s, 20, "picnic-")
	stop()
	list, err := s.Client.EventsV1().Events(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	created := sets.New[string]()
	for _, event := range list.Items {
		if event.Reason == "Created" && event.Related != nil {
			created.Insert(event.Related.Name)
		}
	}
	if diff := cmp.Diff(namesOf(t, s, "picnic-"), created); diff != "" {
		t.Errorf("the copies with an Event differ (-want +got):\n%s", diff)
	}
}

// Two notices of 100 copies are reconciled at the same time. No request waits for so long that its
// deadline would pass.
func TestTwoNoticesOfAHundredCopies(t *testing.T) {
	s, resource := open(t)
	var mu sync.Mutex
	var log []string
	logger := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, line)
	}, funcr.Options{})
	config := rest.CopyConfig(s.Config)
	config.QPS, config.Burst, config.RateLimiter = 0, 0, nil // as in a program that sets no limits
	for _, name := range []string{"picnic", "party"} {
		_, err := resource.Create(t.Context(), newNotice(name, map[string]any{"text": "hi", "copies": int64(100)}),
			metav1.CreateOptions{})
		must.NoError(t, err)
	}
	stop := must.Run(t, func(ctx context.Context) {
		must.NoError(t, notices.Run(klog.NewContext(ctx, logger), config, s.Namespace, notices.Options{}))
	})
	waitForCopies(t, s, 100, "picnic-")
	waitForCopies(t, s, 100, "party-")
	stop()
	isThrottled := func(line string) bool { return strings.Contains(line, "would exceed context deadline") }
	if i := slices.IndexFunc(log, isThrottled); i >= 0 {
		t.Errorf("a request was not sent: %s", log[i])
	}
}

// A delete that only sets deletionTimestamp, because of the finalizer, raises the generation, as a
// change of the spec does.
func TestADeleteRaisesTheGeneration(t *testing.T) {
	_, resource := open(t)
	picnic := newNotice("picnic", map[string]any{"text": "hi"})
	picnic.SetFinalizers([]string{"example.com/notices"})
	created, err := resource.Create(t.Context(), picnic, metav1.CreateOptions{})
	must.NoError(t, err)
	must.NoError(t, resource.Delete(t.Context(), "picnic", metav1.DeleteOptions{}))
	deleted, err := resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.NoError(t, err)
	if deleted.GetDeletionTimestamp() == nil || deleted.GetGeneration() != created.GetGeneration()+1 {
		t.Errorf("after the delete, the notice has the deletionTimestamp %v and the generation %d, want one and %d",
			deleted.GetDeletionTimestamp(), deleted.GetGeneration(), created.GetGeneration()+1)
	}
}
