package main

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"example.com/informer/02-listwatch/kube"
)

// gone asks for history that the server does not have. A server keeps a window
// of recent events; to fall out of it quickly, the step watches a resource that
// the server has served for a moment only, from a version before that moment.
func gone(ctx context.Context, s *kube.Session) (err error) {
	defined, err := s.DefineWidgets(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, defined.Remove(ctx)) }()
	widgets := s.Dynamic.Resource(defined.Resource).Namespace(s.Namespace)

	s.Printf("# a watch from a version that is too old\n")
	watcher, err := widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: defined.DefinedAt})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	_, err = next(ctx, watcher)
	s.Printf("ERROR : %s\n", describe(err))

	s.Printf("# what a client must do: LIST again, and watch from the list's version\n")
	list, err := widgets.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	s.Printf("LIST : %d widgets\n", len(list.Items))
	again, err := widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer again.Stop()
	if err := defined.Create(ctx, "gear", 1); err != nil {
		return err
	}
	event, err := next(ctx, again)
	if err != nil {
		return err
	}
	s.Printf("%s : %s\n", event.Type, event.Object.(metav1.Object).GetName())
	return nil
}

// statusError is the error that an ERROR event carries.
func statusError(event apiwatch.Event) error { return apierrors.FromObject(event.Object) }

// describe gives the code and the reason of an error from the API server.
func describe(err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%d %s", answer.Status().Code, answer.Status().Reason)
}
