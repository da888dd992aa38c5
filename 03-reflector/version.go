package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
)

// version follows a reflector's LastSyncResourceVersion: events move it, and
// so do bookmarks. When the server ends the watch, the next one starts there.
func version(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	if _, err := s.CreateConfigMap(ctx, "one"); err != nil {
		return err
	}
	_, queue := newQueue()
	reflector := cache.NewReflector(allButUnseen(counted), &corev1.ConfigMap{}, queue, 0)
	defer flow.Start(ctx, reflector)()

	moves := func(ctx context.Context) error { return move(ctx, s, reflector, &asked) }
	return flow.Together(ctx, moves, func(ctx context.Context) error {
		return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error { return showConfigMap(s, d, "Added three") })
	})
}

// allButUnseen lists and watches ConfigMaps, except the one called unseen. Its
// watches last five seconds: 2 s before their end the server sends a bookmark.
func allButUnseen(s *kube.Session) *cache.ListWatch {
	return cache.NewFilteredListWatchFromClient(s.Clientset.CoreV1().RESTClient(), "configmaps", s.Namespace,
		func(options *metav1.ListOptions) {
			options.FieldSelector = "metadata.name!=kube-root-ca.crt,metadata.name!=unseen"
			options.TimeoutSeconds = new(int64(5))
		})
}

// move makes the version move: by an event, by a bookmark, over a reconnect.
func move(ctx context.Context, s *kube.Session, reflector *cache.Reflector, asked *requests.Counter) error {
	if err := s.WaitPrinted(ctx, "Sync : one"); err != nil {
		return err
	}
	if err := createAndReach(ctx, s, reflector, "two"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "Added : two"); err != nil {
		return err
	}
	s.Printf("the version has reached that of two, by an event\n")
	if err := createAndReach(ctx, s, reflector, "unseen"); err != nil {
		return err
	}
	s.Printf("the version has reached that of unseen, by a bookmark\n")
	if err := flow.Until(ctx, "another watch", func() bool { return asked.Watches() > 0 }); err != nil {
		return err
	}
	s.Printf("# the server ended the watch; requests so far: %s\n", asked)
	_, err := s.CreateConfigMap(ctx, "three")
	return err
}

// createAndReach makes a ConfigMap and waits until the reflector has come to
// its version.
func createAndReach(ctx context.Context, s *kube.Session, reflector *cache.Reflector, name string) error {
	cm, err := s.CreateConfigMap(ctx, name)
	if err != nil {
		return err
	}
	return reaches(ctx, reflector, cm.ResourceVersion)
}

// reaches waits until the reflector has come to a version.
func reaches(ctx context.Context, reflector *cache.Reflector, version string) error {
	return flow.Until(ctx, "version "+version, func() bool {
		order, err := resourceversion.CompareResourceVersion(reflector.LastSyncResourceVersion(), version)
		return err == nil && order >= 0
	})
}
