package factory

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/fakeserver"
	"example.com/informer/07-shared-informer/informer"
)

// What client-go's groups hand out is wrapped, and is ours underneath.
func TestTheStandInsInformersAreTheFactorys(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	theirs := f.ClientGo()
	own := f.Pods().Informer()
	if _, ok := own.(*informer.Informer); !ok {
		t.Errorf("it is a %T", own)
	}
	pods := theirs.Core().V1().Pods()
	generic, err := theirs.ForResource(Pods)
	must(t, err)
	if pods.Informer().GetStore() != own.GetStore() || pods.TypedInformer().GetIndexer() != own.GetIndexer() ||
		generic.Informer() != own || theirs.InformerFor(&corev1.Pod{}, nil) != own {
		t.Error("there is more than one informer of pods")
	}
	if len(f.entries) != 1 {
		t.Errorf("%d informers, want 1", len(f.entries))
	}
}

// With a list of its own, and a transform of its own.
func TestInformerForTakesACallersFunction(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		kind    string
	}{
		{"plain", Options{Resync: time.Hour}, "own"},
		{"with Kinds", Options{Resync: time.Hour, Kinds: true}, "ConfigMap"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewClientset()
			f := New(client, test.options)
			var made cache.SharedIndexInformer
			got := f.ClientGo().InformerFor(&corev1.ConfigMap{}, func(given kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				if given != client || resync != time.Hour {
					t.Errorf("given %v and %v", given, resync)
				}
				made = informer.New(fakeserver.New(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta}), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
				must(t, made.SetTransform(func(obj any) (any, error) { obj.(*corev1.ConfigMap).Kind = "own"; return obj, nil }))
				return made
			})
			if got != made || f.ConfigMaps().Informer() != made {
				t.Error("the caller's informer was not taken")
			}
			start(t, f)
			if obj, _, _ := got.GetStore().GetByKey("ns/a"); obj.(*corev1.ConfigMap).Kind != test.kind {
				t.Errorf("stored with kind %q, want %q", obj.(*corev1.ConfigMap).Kind, test.kind)
			}
		})
	}
}

// A type that is in no scheme is a type too.
type gadget struct{ corev1.ConfigMap }

func TestInformerForOfATypeOfTheCallersOwn(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	newInformer := func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return informer.New(fakeserver.New(), &gadget{}, cache.SharedIndexInformerOptions{})
	}
	one := f.ClientGo().InformerFor(&gadget{}, newInformer)
	if f.ClientGo().InformerFor(&gadget{}, newInformer) != one {
		t.Error("there is more than one informer of gadgets")
	}
	start(t, f)
	if !one.HasSynced() {
		t.Error("it was not waited for")
	}
}

func TestTheStandInSaysWhichTypesHaveSynced(t *testing.T) {
	_, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{})
	defer f.Shutdown()
	theirs := f.ClientGo()
	theirs.Core().V1().ConfigMaps().Informer()
	theirs.Apps().V1().Deployments().Informer()
	stop := make(chan struct{})
	theirs.Start(stop)
	must(t, f.only(t, ConfigMaps))

	tired := errors.New("no more patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, tired)
	defer cancel()
	result := theirs.WaitForCacheSyncWithContext(ctx)
	want := map[reflect.Type]bool{reflect.TypeFor[*corev1.ConfigMap](): true, reflect.TypeFor[*appsv1.Deployment](): false}
	if !reflect.DeepEqual(result.Synced, want) || !errors.Is(result.Err, tired) || result.AsError() == nil {
		t.Errorf("got %v, %v; want %v", result.Synced, result.Err, want)
	}
	close(stop)
	if synced := theirs.WaitForCacheSync(stop); !reflect.DeepEqual(synced, want) {
		t.Errorf("got %v, want %v", synced, want)
	}
	theirs.Shutdown()
}

// The typed handlers of client-go 0.37 on our informer.
func TestATypedHandlerOfClientGos(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{Kinds: true})
	told := make(chan string, 10)
	_, err := f.ClientGo().Core().V1().ConfigMaps().TypedInformer().AddTypedEventHandler(
		cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
			AddFunc: func(obj *corev1.ConfigMap) { told <- "add " + obj.Name + " " + obj.Kind },
			DeleteFunc: func(obj cache.DeletedObject[*corev1.ConfigMap]) {
				told <- "delete " + obj.GetKey() + " " + obj.OptionalObj.Kind
			},
		})
	must(t, err)
	start(t, f)
	server.events <- event{"DELETED", configMap("a")}
	for _, want := range []string{"add a ConfigMap", "delete ns/a ConfigMap"} {
		if got := <-told; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
