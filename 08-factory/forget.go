package main

import (
	"context"
	"fmt"
	"weak"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/08-factory/factory"
)

// forget drops an informer from a factory that runs on, and looks for what it
// has held.
func forget(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	if err := createMany(ctx, counted); err != nil { // also opens the connection
		return err
	}
	f := factory.New(counted.Clientset, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	pods := f.Pods().Informer()
	if err := start(ctx, f); err != nil {
		return err
	}
	asked.Reset()
	f.ConfigMaps()
	marked(ctx, s.Namespace, func(ctx context.Context) { err = start(ctx, f) })
	if err != nil {
		return err
	}
	cached := remember(f.ConfigMaps().Informer().GetStore())
	s.Printf("cached : %d objects; goroutines: %t; %s\n", cached.alive(), goroutines(s.Namespace) > 0, &asked)

	f.Forget(factory.ConfigMaps)
	if err := flow.Until(ctx, "its goroutines are gone", func() bool {
		return goroutines(s.Namespace) == 0
	}); err != nil {
		return err
	}
	s.Printf("forgotten : %d objects in memory, %d goroutines; pods stopped: %t\n",
		cached.alive(), goroutines(s.Namespace), pods.IsStopped())

	asked.Reset()
	fresh := f.ConfigMaps().Informer()
	if err := start(ctx, f); err != nil {
		return err
	}
	s.Printf("asked for again : %d objects; %s\n", len(fresh.GetStore().ListKeys()), &asked)
	return stopTheirs(ctx, s)
}

// stopTheirs stops client-go's informers, in the only way that there is.
func stopTheirs(ctx context.Context, s *kube.Session) error {
	theirs := informers.NewSharedInformerFactoryWithOptions(s.Clientset, 0, informers.WithNamespace(s.Namespace))
	configMaps := theirs.Core().V1().ConfigMaps().Informer()
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	theirs.StartWithContext(run)
	if err := theirs.WaitForCacheSyncWithContext(run).AsError(); err != nil {
		return err
	}
	cached := remember(configMaps.GetStore())
	cancel()
	theirs.Shutdown()
	s.Printf("client-go's, stopped : %d objects in memory\n", cached.alive())
	again := theirs.Core().V1().ConfigMaps().Informer()
	theirs.StartWithContext(ctx)
	s.Printf("asked for again : stopped: %t\n", again.IsStopped())
	return nil
}

// createMany makes a hundred ConfigMaps.
func createMany(ctx context.Context, s *kube.Session) error {
	s.Printf("# for i in $(seq 1 100); do kubectl create configmap object-$i; done\n")
	for i := range 100 {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("object-%d", i+1)}}
		if _, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).Create(ctx, configMap,
			metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// memories are pointers that do not keep what they point to.
type memories []weak.Pointer[corev1.ConfigMap]

func remember(store cache.Store) (m memories) {
	for _, obj := range store.List() {
		m = append(m, weak.Make(obj.(*corev1.ConfigMap)))
	}
	return m
}

// alive counts what is left after the garbage is collected.
func (m memories) alive() int {
	heap()
	alive := 0
	for _, p := range m {
		if p.Value() != nil {
			alive++
		}
	}
	return alive
}
