// Panics and other ends of a program, in a process of their own, and calls that an informer
// refuses.

package fieldguide

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// childEnv is set in the environment of a process that runChild has started.
const childEnv = "FIELD_GUIDE_CHILD"

// isChild reports whether runChild has started this process.
func isChild() bool { return os.Getenv(childEnv) != "" }

// runChild runs this test again, in a process of its own, and returns its output. The exit code
// does not matter: most of these processes end with a panic.
func runChild(t *testing.T, env ...string) *klogOutput {
	t.Helper()
	output, _ := must.RunInSubprocess(t, t.Name(), append(env, childEnv+"=yes")...)
	return textOf(output)
}

// textOf returns an output with a text that does not come from klog, such as an error or a panic.
func textOf(text any) *klogOutput {
	output := new(klogOutput)
	fmt.Fprintln(output, text)
	return output
}

func TestABareCast(t *testing.T) {
	if !isChild() {
		output := runChild(t)
		output.want(t, `E…] "Observed a panic" panic="interface conversion: interface {} is `+
			`cache.DeletedFinalStateUnknown, not *v1.Pod" panicGoValue="…" stacktrace=<`)
		output.want(t, `panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Pod …`)
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
		output := runChild(t, "KUBE_CACHE_MUTATION_DETECTOR=true")
		output.want(t, `W… mutation_detector.go:…] Mutation detector is enabled, this will result in memory leakage.`)
		output.want(t, `CACHE *v1.ConfigMap[…] ALTERED!`)
		output.want(t, `panic: cache *v1.ConfigMap modified`)
		return
	}
	handle(t, newConfigMaps(fakeapi.New(fakeapi.ConfigMap("a", "1")), 0), cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { obj.(*corev1.ConfigMap).Labels = map[string]string{"seen": "yes"} },
	})
	select {} // until the process ends
}

// One goroutine changes the labels of an object that it has got from a lister, and another one lists
// objects by their labels. If a lister copied objects, nothing would end the child before its time is up.
func TestAMapThatIsChangedWhileItIsRead(t *testing.T) {
	if !isChild() {
		runChild(t).want(t, `fatal error: concurrent map read and map write`)
		return
	}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	labelled := fakeapi.ConfigMap("a", "1")
	labelled.Labels = map[string]string{}
	must.NoError(t, indexer.Add(labelled))
	lister := corelisters.NewConfigMapLister(indexer)
	got, err := lister.ConfigMaps("ns").Get("a")
	must.NoError(t, err)
	go func() {
		for i := 0; ; i++ {
			got.Labels[fmt.Sprint(i%100)] = "yes"
		}
	}()
	for {
		_, err := lister.List(labels.SelectorFromSet(labels.Set{"7": "yes"}))
		must.NoError(t, err)
	}
}

func TestAnIndexFunctionThatFails(t *testing.T) {
	strict := func(any) ([]string, error) { return nil, errors.New("no colour") }
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"colour": strict})
	defer func() {
		textOf(fmt.Sprint("panic: ", recover())).want(t,
			`panic: unable to calculate an index entry for key "…" on index "…": …`)
	}()
	must.NoError(t, indexer.Add(fakeapi.ConfigMap("a", "1")))
}

func TestWhatAnInformerRefuses(t *testing.T) {
	log := captureKlog(t, 0)
	informer := newConfigMaps(fakeapi.New(), 0)
	stop := must.Run(t, informer.RunWithContext)
	must.Until(t, "the informer has synced", informer.HasSynced)
	informer.RunWithContext(t.Context())
	const runAgain = `I… shared_informer.go:…] "Warning: the sharedIndexInformer has started, run more than once is ` +
		`not allowed"`
	log.want(t, runAgain)
	textOf(informer.SetTransform(nil)).want(t, `informer has already started`)
	textOf(informer.SetWatchErrorHandler(nil)).want(t, `informer has already started`)

	colour := cache.Indexers{"colour": cache.MetaNamespaceIndexFunc}
	must.NoError(t, informer.AddIndexers(colour)) // though it runs
	textOf(informer.AddIndexers(colour)).want(t, `indexer conflict: map[colour:{}]`)
	stop()
	log = captureKlog(t, 0)
	informer.RunWithContext(t.Context())
	log.want(t, runAgain)
	textOf(informer.AddIndexers(nil)).want(t, `indexer was not added because it has stopped already`)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	textOf(err).want(t, `handler … was not added to shared informer because it has stopped already`)
}

// The informer drops the event, and neither a handler nor the log says so.
func TestATransformThatGivesNilForAnEvent(t *testing.T) {
	log := captureKlog(t, 4)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		informer := newConfigMaps(server, 0)
		must.NoError(t, informer.SetTransform(func(any) (any, error) { return nil, nil }))
		var calls record.Lines
		handle(t, informer, record.Handler(&calls))
		w, before := server.NextWatch(), log.String()
		w.Add(fakeapi.ConfigMap("a", "2"))
		calls.Want(t)
		if n := len(informer.GetStore().List()); n > 0 {
			t.Errorf("the store has %d objects, want 0", n)
		}
		if after := log.String(); after != before {
			t.Errorf("klog has written this, want nothing:\n%s", strings.TrimPrefix(after, before))
		}
	})
}

// A handler that was not due at the last resync gets no update of the same version.
func TestATransformThatEmptiesTheVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		informer := newConfigMaps(server, 10*time.Minute)
		must.NoError(t, informer.SetTransform(func(obj any) (any, error) {
			obj.(*corev1.ConfigMap).ResourceVersion = ""
			return obj, nil
		}))
		must.Run(t, informer.RunWithContext)
		w := server.NextWatch()
		time.Sleep(time.Minute) // a handler that joins late is not due when the others are
		var calls record.Lines
		_, err := informer.AddEventHandler(record.Handler(&calls))
		must.NoError(t, err)
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
