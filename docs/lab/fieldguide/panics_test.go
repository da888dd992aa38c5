// What ends a program, and what an informer refuses. The first is tested in a process
// of its own.

package fieldguide

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// isChild is whether this is the process of runChild.
func isChild() bool { return os.Getenv("FIELD_GUIDE_CHILD") != "" }

// runChild runs this test again, in a process of its own, and takes what that says.
func runChild(t *testing.T, env ...string) *klogOutput {
	t.Helper()
	said, _ := must.RunAgain(t, t.Name(), append(env, "FIELD_GUIDE_CHILD=yes")...)
	return words(said)
}

// words has said something that klog has not.
func words(text any) *klogOutput {
	output := new(klogOutput)
	fmt.Fprintln(output, text)
	return output
}

func TestABareCast(t *testing.T) {
	if !isChild() {
		said := runChild(t)
		said.want(t, `E…] "Observed a panic" panic="interface conversion: interface {} is `+
			`cache.DeletedFinalStateUnknown, not *v1.Pod" panicGoValue="…" stacktrace=<`)
		said.want(t, `panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Pod …`)
		return
	}
	server := fakeapi.New(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
	informer := cache.NewSharedIndexInformer(server, &corev1.Pod{}, 0, cache.Indexers{})
	handle(t, informer, cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) { _ = obj.(*corev1.Pod) }})
	w := server.NextWatch()
	server.Set()
	fakeapi.Expire(w)
	select {} // until the process ends
}

func TestAChangedObject(t *testing.T) {
	if !isChild() {
		said := runChild(t, "KUBE_CACHE_MUTATION_DETECTOR=true")
		said.want(t, `W… mutation_detector.go:…] Mutation detector is enabled, this will result in memory leakage.`)
		said.want(t, `CACHE *v1.ConfigMap[…] ALTERED!`)
		said.want(t, `panic: cache *v1.ConfigMap modified`)
		return
	}
	handle(t, newConfigMaps(fakeapi.New(fakeapi.ConfigMap("a", "1")), 0), cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { obj.(*corev1.ConfigMap).Labels = map[string]string{"seen": "yes"} },
	})
	select {} // until the process ends
}

// One goroutine changes the labels of an object, and another, as a lister does, selects by them.
func TestAMapThatIsChangedWhileItIsRead(t *testing.T) {
	if !isChild() {
		runChild(t).want(t, `fatal error: concurrent map read and map write`)
		return
	}
	shared, selector := map[string]string{}, labels.SelectorFromSet(labels.Set{"7": "yes"})
	go func() {
		for i := 0; ; i++ {
			shared[fmt.Sprint(i%100)] = "yes"
		}
	}()
	for {
		selector.Matches(labels.Set(shared))
	}
}

func TestAnIndexFunctionThatFails(t *testing.T) {
	strict := func(any) ([]string, error) { return nil, errors.New("no colour") }
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"colour": strict})
	defer func() {
		words(fmt.Sprint("panic: ", recover())).want(t,
			`panic: unable to calculate an index entry for key "…" on index "…": …`)
	}()
	must.Do(t, indexer.Add(fakeapi.ConfigMap("a", "1")))
}

func TestWhatAnInformerRefuses(t *testing.T) {
	log := captureKlog(t, 0)
	informer := newConfigMaps(fakeapi.New(), 0)
	stop := must.Run(t, informer.RunWithContext)
	must.Until(t, "it has synced", informer.HasSynced)
	informer.RunWithContext(t.Context())
	log.want(t, `I… shared_informer.go:…] "Warning: the sharedIndexInformer has started, run more than once is `+
		`not allowed"`)
	words(informer.SetTransform(nil)).want(t, `informer has already started`)

	colour := cache.Indexers{"colour": cache.MetaNamespaceIndexFunc}
	must.Do(t, informer.AddIndexers(colour)) // though it runs
	words(informer.AddIndexers(colour)).want(t, `indexer conflict: map[colour:{}]`)
	stop()
	words(informer.AddIndexers(nil)).want(t, `indexer was not added because it has stopped already`)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	words(err).want(t, `handler … was not added to shared informer because it has stopped already`)
}

// An event is dropped as well, and nobody is told.
func TestATransformThatGivesNilForAnEvent(t *testing.T) {
	log := captureKlog(t, 4)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newConfigMaps(server, 0)
		must.Do(t, informer.SetTransform(func(any) (any, error) { return nil, nil }))
		var calls record.Lines
		handle(t, informer, record.Handler(&calls))
		w, before := server.NextWatch(), log.String()
		w.Add(fakeapi.ConfigMap("a", "2"))
		calls.Want(t)
		if n := len(informer.GetStore().List()); n > 0 || log.String() != before {
			t.Errorf("%d objects are stored, and the log has\n%s", n, log)
		}
	})
}

// A handler that the last resync left out gets no update of the same version.
func TestATransformThatEmptiesTheVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		informer := newConfigMaps(server, 10*time.Minute)
		must.Do(t, informer.SetTransform(func(obj any) (any, error) {
			obj.(*corev1.ConfigMap).ResourceVersion = ""
			return obj, nil
		}))
		must.Run(t, informer.RunWithContext)
		w := server.NextWatch()
		time.Sleep(time.Minute) // a handler that joins late is not due when the others are
		var calls record.Lines
		_, err := informer.AddEventHandler(record.Handler(&calls))
		must.Do(t, err)
		calls.Want(t, "OnAdd a  first")
		w.Modify(fakeapi.ConfigMap("a", "2"))
		calls.Want(t, "OnUpdate a , was ")
		time.Sleep(10 * time.Minute)
		w.Modify(fakeapi.ConfigMap("a", "3"))
		calls.Want(t)
		w.Delete(fakeapi.ConfigMap("a", "4"))
		calls.Want(t, "OnDelete a ")
	})
}
