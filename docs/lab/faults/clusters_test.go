// Two clusters in one program.

package faults

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/must"
)

// A factory belongs to one cluster. The keys and versions of two clusters are independent.
func TestTwoClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two control planes")
	}
	added := make(chan string, 10)
	for _, name := range []string{"east", "west"} {
		env := startEnvironment(t)
		f := factory.New(env.client, factory.Options{Namespace: "default"})
		_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			if configMap := obj.(*corev1.ConfigMap); configMap.Name == "here" {
				added <- name + ": " + configMap.Data["cluster"]
			}
		}})
		must.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(func() {
			cancel()
			f.Shutdown()
		})
		f.Start(ctx)
		must.NoError(t, f.WaitForCacheSync(ctx))
		_, err = env.client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ // the same key in both
			ObjectMeta: metav1.ObjectMeta{Name: "here"}, Data: map[string]string{"cluster": name},
		}, metav1.CreateOptions{})
		must.NoError(t, err)
		if got, want := <-added, name+": "+name; got != want {
			t.Errorf("the handler got %q, want %q", got, want)
		}
	}
}
