// Claims of the book about what a program loses when it saves memory, tested on a cluster.

package main

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// Such an informer has the managed fields, and it gets an event for each change of the data.
func TestAnInformerOfMetadataHasNoData(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create configmap weather --from-literal=sky=blue")
	client, err := metadata.NewForConfig(s.Config)
	must.NoError(t, err)
	informer := metadatainformer.NewFilteredMetadataInformer(client,
		corev1.SchemeGroupVersion.WithResource("configmaps"), s.Namespace, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=weather" }).Informer()
	must.Run(t, informer.RunWithContext)
	must.Until(t, "the first list", informer.HasSynced)
	stored := func() *metav1.PartialObjectMetadata {
		return informer.GetStore().List()[0].(*metav1.PartialObjectMetadata)
	}
	first := stored()
	text, err := json.Marshal(first)
	must.NoError(t, err)
	if strings.Contains(string(text), "blue") || len(first.ManagedFields) == 0 {
		t.Errorf("the store has %s, want the managed fields and no data", text)
	}

	_, err = s.Client.CoreV1().ConfigMaps(s.Namespace).Update(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "weather"}, Data: map[string]string{"sky": "grey"},
	}, metav1.UpdateOptions{})
	must.NoError(t, err)
	must.Until(t, "an event for the new data", func() bool {
		return stored().ResourceVersion != first.ResourceVersion
	})
}

// An update sends the whole object. The server keeps only the managed fields.
func TestAnUpdateFromATransformedObjectRemovesItsFields(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create configmap weather --from-literal=sky=blue")
	store := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(func(obj any) (any, error) {
		configMap := obj.(*corev1.ConfigMap)
		configMap.Data, configMap.ManagedFields = nil, nil
		return configMap, nil
	}))
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	served, err := configMaps.Get(t.Context(), "weather", metav1.GetOptions{})
	must.NoError(t, err)
	must.NoError(t, store.Add(served))
	changed := store.List()[0].(*corev1.ConfigMap).DeepCopy()
	metav1.SetMetaDataLabel(&changed.ObjectMeta, "seen", "yes")
	_, err = configMaps.Update(t.Context(), changed, metav1.UpdateOptions{})
	must.NoError(t, err)
	served, err = configMaps.Get(t.Context(), "weather", metav1.GetOptions{})
	must.NoError(t, err)
	if len(served.Data) != 0 || len(served.ManagedFields) == 0 {
		t.Errorf("after the update the server has the data %v and %d managed fields, want no data and some",
			served.Data, len(served.ManagedFields))
	}
}
