// The errors of a WatchDog whose server has no such resource, or another type.

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// wantError runs a WatchDog and checks that it reports an error with all texts, does not sync, and
// ends without an error.
func wantError(t *testing.T, lw cache.ListerWatcher, objectType runtime.Object, texts ...string) {
	t.Helper()
	reported := make(chan error, 1)
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: lw,
		ObjectType:    objectType,
		Handler:       cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { t.Errorf("OnAdd of %v", obj) }},
		OnError: func(err error) {
			select {
			case reported <- err:
			default: // a later try has failed, too
			}
		},
	})
	must.NoError(t, err)
	must.Run(t, func(ctx context.Context) {
		if err := dog.Run(ctx); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
	})
	select {
	case err := <-reported:
		for _, text := range texts {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("OnError(%q), want an error that contains %q", err, text)
			}
		}
	case <-dog.Synced():
		t.Errorf("the WatchDog has synced, with %q; want an error", dog.Store().ListKeys())
	case <-time.After(time.Minute):
		t.Error("no error after a minute")
	}
}

func TestATypeThatTheServerDoesNotServe(t *testing.T) {
	s := sessiontest.Open(t)
	lw := cache.NewListWatchFromClient(s.Client.CoreV1().RESTClient(), "unicorns", s.Namespace, fields.Everything())
	wantError(t, lw, &corev1.ConfigMap{}, "listing and watching *v1.ConfigMap", "could not find the requested resource")
}

func TestATypeThatDoesNotMatchWhatArrives(t *testing.T) {
	s := sessiontest.Open(t) // with one ConfigMap, the cluster's own
	lw := cache.NewListWatchFromClient(s.Client.CoreV1().RESTClient(), "configmaps", s.Namespace, fields.Everything())
	wantError(t, lw, &corev1.Pod{}, "*v1.ConfigMap "+s.Namespace+"/kube-root-ca.crt is not a *v1.Pod")
}
