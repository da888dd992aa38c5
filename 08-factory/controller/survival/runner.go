package survival

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// A runner runs a controller in a namespace of its own, and changes and checks the children there.
type runner struct {
	Controller
	*session.Session // the test's own connection, which does not go through the proxy
	newInformer      NewInformer
	config           *rest.Config // the controller's configuration: through the proxy and failWrites
	proxy            *netfault.Proxy

	first, last string                       // the names of two children
	want        map[string]map[string]string // the children that the object wants now

	failures  atomic.Int32 // how many of the next writes of ConfigMaps fail
	conflicts atomic.Int32 // how many of the next updates end with a conflict
}

// children are the ConfigMaps of the namespace that have a controller, by their names.
type children map[string]*corev1.ConfigMap

func newRunner(t *testing.T, c Controller, newInformer NewInformer) *runner {
	t.Helper()
	names := slices.Sorted(maps.Keys(c.Children))
	r := &runner{
		Controller:  c,
		Session:     sessiontest.Open(t),
		newInformer: newInformer,
		first:       names[0],
		last:        names[len(names)-1],
		want:        c.Children,
	}
	proxy, err := netfault.For(r.Config)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	t.Cleanup(func() { // after a test that has failed: a finalizer that stays keeps the namespace from being removed
		_, _ = r.Kubectl(context.WithoutCancel(t.Context()), c.Files, "patch", c.Resource, "--type=merge",
			"--patch", `{"metadata":{"finalizers":null}}`)
	})
	r.proxy = proxy
	r.config = rest.CopyConfig(r.Config)
	r.config.Dial = proxy.Dial
	r.config.Wrap(r.failWrites)
	return r
}

// kubectl runs kubectl in the test's namespace.
func (r *runner) kubectl(t *testing.T, command string, args ...string) {
	t.Helper()
	_, err := r.Kubectl(t.Context(), r.Files, command, args...)
	must.Do(t, err)
}

// start runs the controller until stop is called. stop waits until the controller has ended.
func (r *runner) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, r.config, r.Namespace, r.newInformer) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			must.Do(t, err)
		case <-time.After(time.Minute):
			t.Fatal("the controller does not end within a minute after its context")
		}
	}
}

// wait waits until check finds nothing wrong with the children.
func (r *runner) wait(t *testing.T, situation string, check func(children) error) {
	t.Helper()
	var wrong error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true,
		func(ctx context.Context) (bool, error) {
			found, err := r.findChildren(ctx)
			if err != nil {
				return false, err
			}
			wrong = check(found)
			return wrong == nil, nil
		})
	if err != nil {
		t.Fatalf("%s: not in two minutes: %v", situation, errors.Join(wrong, err))
	}
}

func (r *runner) findChildren(ctx context.Context) (children, error) {
	list, err := r.Client.CoreV1().ConfigMaps(r.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := children{}
	for _, child := range list.Items {
		if metav1.GetControllerOf(&child) != nil {
			found[child.Name] = &child
		}
	}
	return found, nil
}

// complete returns an error unless the namespace has all children that the object wants, and no
// others.
func (r *runner) complete(found children) error {
	if len(found) > len(r.want) {
		return fmt.Errorf("there are %d children, want %d", len(found), len(r.want))
	}
	return compare(found, r.want)
}

// compare returns an error if a child is missing, or has other data.
func compare(found children, want map[string]map[string]string) error {
	for name, data := range want {
		child, ok := found[name]
		if !ok {
			return fmt.Errorf("there is no %s", name)
		}
		for key, value := range data {
			if child.Data[key] != value {
				return fmt.Errorf("%s has %s: %q, want %q", name, key, child.Data[key], value)
			}
		}
	}
	return nil
}

// waitForStatus waits until the status is about the newest spec.
func (r *runner) waitForStatus(t *testing.T) {
	t.Helper()
	must.Until(t, "status.observedGeneration is metadata.generation", func() bool {
		lines, err := r.Kubectl(t.Context(), r.Files, "get", r.Resource,
			"-o", "jsonpath={.metadata.generation} {.status.observedGeneration}")
		must.Do(t, err)
		generation, observed, _ := strings.Cut(strings.Join(lines, ""), " ")
		return generation == observed
	})
}

// createForeign creates a ConfigMap that has no owner.
func (r *runner) createForeign(t *testing.T, name string) {
	t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := r.Client.CoreV1().ConfigMaps(r.Namespace).Create(t.Context(), configMap, metav1.CreateOptions{})
	must.Do(t, err)
}

func (r *runner) deleteChild(t *testing.T, name string) {
	t.Helper()
	must.Do(t, r.Client.CoreV1().ConfigMaps(r.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// changeChild changes all data of a child, and adds some.
func (r *runner) changeChild(t *testing.T, name string) {
	t.Helper()
	changed := map[string]string{"added": "by somebody else"}
	for key := range r.want[name] {
		changed[key] = "somebody else's"
	}
	data, err := json.Marshal(changed)
	must.Do(t, err)
	must.Do(t, r.patchChild(t.Context(), name, `{"data":`+string(data)+`}`))
}

func (r *runner) patchChild(ctx context.Context, name, patch string) error {
	_, err := r.Client.CoreV1().ConfigMaps(r.Namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	return err
}

// keepWriting changes an annotation of a child, as fast as it can, until ctx ends.
func (r *runner) keepWriting(ctx context.Context, name string) error {
	for i := 0; ; i++ {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"writes":"%d"}}}`, i)
		if err := r.patchChild(ctx, name, patch); err != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}
