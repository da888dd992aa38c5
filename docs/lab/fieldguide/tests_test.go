// Symptoms in tests with a fake clientset, goleak or synctest.

package fieldguide

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// Both constructors leave the version, the UID and the name of an object as they are.
func TestAFakeSetsNoVersionAndNoName(t *testing.T) {
	for _, client := range []*fake.Clientset{fake.NewClientset(), fake.NewSimpleClientset()} {
		synctest.Test(t, func(t *testing.T) {
			informer := informers.NewSharedInformerFactory(client, 0).Core().V1().ConfigMaps().Informer()
			var calls record.Lines
			handle(t, informer, record.Handler(&calls))
			calls.Want(t)
			configMaps := client.CoreV1().ConfigMaps("ns")
			generated := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}
			created, err := configMaps.Create(t.Context(), generated, metav1.CreateOptions{})
			must.NoError(t, err)
			calls.Want(t, "OnAdd  ") // neither name nor version
			if created.UID != "" {
				t.Errorf("the object has the UID %s, want none", created.UID)
			}
			_, err = configMaps.Create(t.Context(), generated, metav1.CreateOptions{})
			if !apierrors.IsAlreadyExists(err) {
				t.Errorf("the second Create() = %v, want an AlreadyExists error", err)
			}
			created.Labels = map[string]string{"changed": "yes"}
			_, err = configMaps.Update(t.Context(), created, metav1.UpdateOptions{})
			must.NoError(t, err)
			calls.Want(t, "OnUpdate  , was ")
		})
	}
}

// What the constructor gets is stored under a plural that is guessed from the kind.
func TestAFakeGuessesPlurals(t *testing.T) {
	gateway := &unstructured.Unstructured{}
	gateway.SetAPIVersion("example.com/v1")
	gateway.SetKind("Gateway")
	gateway.SetName("a")
	gateways := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gateways"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{gateways: "GatewayList"}, gateway).Resource(gateways)
	wantItems := func(want int) {
		t.Helper()
		list, err := client.List(t.Context(), metav1.ListOptions{})
		must.NoError(t, err)
		if len(list.Items) != want {
			t.Errorf("List() of gateways has %d items, want %d", len(list.Items), want)
		}
	}
	wantItems(0)
	_, err := client.Create(t.Context(), gateway, metav1.CreateOptions{})
	must.NoError(t, err)
	wantItems(1)
}

func TestSelectorsOnAFake(t *testing.T) {
	client := fake.NewClientset().CoreV1().RESTClient().(*rest.RESTClient)
	if client != nil {
		t.Errorf("RESTClient() of a fake = %v, want nil", client)
	}
	configMaps := fake.NewClientset(fakeapi.ConfigMap("before", "1")).CoreV1().ConfigMaps("ns")
	for options, want := range map[metav1.ListOptions]int{
		{FieldSelector: "metadata.name=other"}: 1, // the fake ignores it
		{LabelSelector: "app=web"}:             0,
	} {
		list, err := configMaps.List(t.Context(), options)
		must.NoError(t, err)
		w, err := configMaps.Watch(t.Context(), options)
		must.NoError(t, err)
		if got := len(list.Items); got != want {
			t.Errorf("List(%v) returned %d objects, want %d", options, got, want)
		}
		if event := <-w.ResultChan(); event.Type != watch.Added { // a watch of a fake ignores both selectors
			t.Errorf("Watch(%v) begins with %v, want ADDED", options, event)
		}
	}
}

func TestNobodyReadsAWatchOfAFake(t *testing.T) {
	configMaps := fake.NewClientset(fakeapi.ConfigMap("a", "1")).CoreV1().ConfigMaps("ns")
	_, err := configMaps.Watch(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	defer func() { textOf(fmt.Sprint("panic: ", recover())).want(t, `panic: channel full`) }()
	for range 100 { // the channel has room for 100 events, and the first one is for the existing object
		_, err = configMaps.Update(t.Context(), fakeapi.ConfigMap("a", "1"), metav1.UpdateOptions{})
		must.NoError(t, err)
	}
}

func TestADynamicFakeNeedsTheKindOfLists(t *testing.T) {
	gateways, _ := meta.UnsafeGuessKindToResource(corev1.SchemeGroupVersion.WithKind("Gateway"))
	if got, want := gateways.Resource, "gatewaies"; got != want {
		t.Errorf("UnsafeGuessKindToResource(Gateway) = %q, want %q", got, want)
	}
	defer func() {
		textOf(fmt.Sprint("panic: ", recover())).want(t,
			`panic: coding error: you must register resource to list kind `+
				`for every resource you're going to LIST when creating the client. …`)
	}()
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	_, err := client.Resource(gateways).List(t.Context(), metav1.ListOptions{})
	t.Errorf("List() = %v, want a panic", err)
}

func TestAnInformerThatGoesOn(t *testing.T) {
	before := goleak.IgnoreCurrent()
	informer := newConfigMaps(fakeapi.New(), 0)
	stop := handle(t, informer, cache.ResourceEventHandlerFuncs{})
	must.Until(t, "the informer has synced", informer.HasSynced)
	leak := textOf(goleak.Find(before))
	leak.want(t, `found unexpected goroutines:`)
	leak.want(t, `… with k8s.io/client-go/tools/cache.(*processorListener).pop on top of the stack:`)
	stop()
	must.NoError(t, goleak.Find(before))
}

func TestAnInformerThatOutlivesItsBubble(t *testing.T) {
	if !isChild() {
		runChild(t).want(t, `panic: deadlock: main bubble goroutine has exited but blocked goroutines remain …`)
		return
	}
	synctest.Test(t, func(*testing.T) {
		go newConfigMaps(fakeapi.New(), 0).RunWithContext(context.Background())
		synctest.Wait()
	})
}
