package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepVersion shows the LastSyncResourceVersion of a reflector. Events and bookmarks raise this
// version. When the server ends the watch, the next watch begins from it.
func stepVersion(ctx context.Context, l *step.Lesson) error {
	allButUnseen := cache.NewFilteredListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name!=unseen,metadata.name!=kube-root-ca.crt"
			options.TimeoutSeconds = new(int64(5)) // in the place of minutes; 2 s before the end comes a bookmark
		})
	store := cache.NewStore(cache.MetaNamespaceKeyFunc) // a reflector can fill a plain store as well
	reflector := cache.NewReflector(allButUnseen, &corev1.ConfigMap{}, store, 0)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { reflector.RunWithContext(ctx) })

	until := func(condition func() bool) error {
		return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return condition(), nil })
	}
	createAndReach := func(name string) error {
		created, err := l.Client.CoreV1().ConfigMaps(l.Namespace).Create(ctx,
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := until(func() bool {
			order, err := resourceversion.CompareResourceVersion(reflector.LastSyncResourceVersion(),
				created.ResourceVersion)
			return err == nil && order >= 0
		}); err != nil {
			return fmt.Errorf("waiting for the version of %s: %w", name, err)
		}
		fmt.Fprintf(l.Out, "the version has reached that of %s : in the store : %d\n", name, len(store.ListKeys()))
		return nil
	}
	for _, name := range []string{"two", "unseen"} {
		if err := createAndReach(name); err != nil {
			return err
		}
	}
	// The first watch brought the list, and is not counted in Watches. A slow server may have ended
	// it already.
	before := l.Requests.Watches()
	if err := until(func() bool { return l.Requests.Watches() > before }); err != nil {
		return fmt.Errorf("waiting for the next watch: %w", err)
	}
	fmt.Fprintf(l.Out, "the server ended the watch : lists : %d, watches after that : %d\n",
		l.Requests.Lists(), l.Requests.Watches()-before)
	return createAndReach("three")
}
