package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/08-factory/factory"
)

// sideBySide runs one program on two factories, and compares what it prints.
func sideBySide(ctx context.Context, s *kube.Session) error {
	if err := errors.Join(create(ctx, s, "weather", "blue"), createPod(ctx, s, "web", "web")); err != nil {
		return err
	}
	var theirs, ours log
	for _, subject := range []struct {
		factory informers.SharedInformerFactory
		out     *log
	}{
		{informers.NewSharedInformerFactoryWithOptions(s.Clientset, 0, informers.WithNamespace(s.Namespace)), &theirs},
		{factory.New(s.Clientset, factory.Options{Namespace: s.Namespace}).ClientGo(), &ours},
	} {
		stop, err := program(ctx, subject.factory, subject.out)
		if err != nil {
			return err
		}
		defer stop()
	}
	for _, act := range []struct {
		do   func() error
		then string
	}{
		{func() error { return change(ctx, s, "weather", "grey") }, "updated : weather"},
		{func() error { return s.DeletePod(ctx, "web") }, "deleted : web"},
		{func() error { return s.DeleteConfigMap(ctx, "weather") }, "deleted : weather"},
	} {
		if err := act.do(); err != nil {
			return err
		}
		if err := flow.Until(ctx, "both have printed "+act.then, func() bool {
			return strings.Contains(theirs.text(), act.then) && strings.Contains(ours.text(), act.then)
		}); err != nil {
			return err
		}
	}
	s.Printf("client-go's :\n%s", theirs.text())
	s.Printf("ours : the same lines: %t\n", theirs.text() == ours.text())
	return nil
}

// program is the usual one: it takes any factory. Its handler of ConfigMaps is
// as they have always been, and has to know what it is handed; that of pods is
// of the typed kind that client-go has since 0.37.
func program(ctx context.Context, f informers.SharedInformerFactory, out *log) (stop func(), err error) {
	configMaps, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	if err != nil {
		return nil, err
	}
	pods := f.Core().V1().Pods()
	_, err = configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) { out.printf("updated : %s\n", obj.(*corev1.ConfigMap).Name) },
		DeleteFunc: func(obj any) {
			key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj) // of a tombstone too
			out.printf("deleted : %s\n", name(key))
		},
	})
	if err != nil {
		return nil, err
	}
	_, err = pods.TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod) { out.printf("added : %s : %s\n", pod.Name, pod.Status.Phase) },
		DeleteFunc: func(pod cache.DeletedObject[*corev1.Pod]) { out.printf("deleted : %s\n", pod.GetName()) },
	})
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(ctx)
	stop = func() { cancel(); f.Shutdown() }
	f.StartWithContext(run)
	if err := f.WaitForCacheSyncWithContext(run).AsError(); err != nil {
		stop()
		return nil, err
	}
	if err := flow.Until(ctx, "the handler has heard of the pod", func() bool {
		return strings.Contains(out.text(), "added")
	}); err != nil {
		stop()
		return nil, err
	}
	out.printf("ConfigMap : %s\n", names(configMaps.Lister().List(labels.Everything())))
	out.printf("Pod : %s\n", names(pods.Lister().List(labels.Everything())))
	return stop, nil
}

// name is a key without its namespace.
func name(key string) string { return key[strings.LastIndex(key, "/")+1:] }

// A log keeps lines. The zero value is ready for use, from any goroutine.
type log struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *log) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.lines, format, args...)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}
