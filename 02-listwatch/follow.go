package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"example.com/informer/02-listwatch/kube"
)

// follow shows the pods of a namespace as they change, until Ctrl-C. A watch
// ends after a while, so there is a loop around it: the whole of this chapter
// in a few lines.
func follow(ctx context.Context, s *kube.Session) error {
	s.Printf("Watching pods. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s run nettool --image=%[2]s\n  %[1]s label pod nettool colour=blue\n  %[1]s delete pod nettool\n",
		s.Kubectl(), kube.PauseImage)
	version := ""
	for ctx.Err() == nil {
		watcher, err := s.Pods().WatchWithContext(ctx,
			metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if err != nil {
			return err
		}
		version, err = showFrom(s, watcher, version)
		watcher.Stop()
		if apierrors.IsResourceExpired(err) {
			version = "" // start over
		} else if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// showFrom prints events until the watch ends, and returns the version to go
// on from.
func showFrom(s *kube.Session, watcher apiwatch.Interface, version string) (string, error) {
	for event := range watcher.ResultChan() {
		if event.Type == apiwatch.Error {
			return version, statusError(event)
		}
		version = event.Object.(metav1.Object).GetResourceVersion()
		if event.Type == apiwatch.Bookmark {
			continue
		}
		if err := showPod(s, event); err != nil {
			return version, err
		}
	}
	return version, nil
}
