// Claims about names that users type: which resource a name stands for, and which status an error
// has.

package main

import (
	"errors"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/restmapper"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// newMapper returns a mapper, and the fake server that it asks.
func newMapper() (*restmapper.DeferredDiscoveryRESTMapper, *fake.Clientset) {
	client := fake.NewClientset()
	client.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", Namespaced: true},
			{Name: "nodes", SingularName: "node", Kind: "Node"},
		}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments", SingularName: "deployment", Kind: "Deployment", Namespaced: true},
		}},
	}
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())), client
}

// mappingOf finds the resource that a user means by a name such as "deployments.apps".
func mappingOf(mapper meta.RESTMapper, name string) (*meta.RESTMapping, error) {
	full, short := schema.ParseResourceArg(name)
	if full == nil {
		full = &schema.GroupVersionResource{Group: short.Group, Resource: short.Resource}
	}
	kind, err := mapper.KindFor(*full)
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

func TestAMapperFindsResourcesByTheirNames(t *testing.T) {
	mapper, _ := newMapper()
	for name, want := range map[string]struct {
		resource schema.GroupVersionResource
		scope    meta.RESTScopeName
	}{
		"configmaps":          {factory.ConfigMaps, meta.RESTScopeNameNamespace},
		"configmap":           {factory.ConfigMaps, meta.RESTScopeNameNamespace},
		"nodes":               {factory.Nodes, meta.RESTScopeNameRoot},
		"deployments":         {factory.Deployments, meta.RESTScopeNameNamespace},
		"deployments.apps":    {factory.Deployments, meta.RESTScopeNameNamespace},
		"deployments.v1.apps": {factory.Deployments, meta.RESTScopeNameNamespace},
	} {
		mapping, err := mappingOf(mapper, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mapping.Resource != want.resource || mapping.Scope.Name() != want.scope {
			t.Errorf("%s is %v with the scope %q, want %v with %q", name, mapping.Resource, mapping.Scope.Name(),
				want.resource, want.scope)
		}
	}
	if _, err := mappingOf(mapper, "unicorns"); !meta.IsNoMatchError(err) {
		t.Errorf("unicorns: %v, want an error for which IsNoMatchError is true", err)
	}
}

// The mapper keeps what discovery has answered, even about names that it did not know.
func TestAMapperAsksAgainOnlyAfterReset(t *testing.T) {
	mapper, server := newMapper()
	if _, err := mappingOf(mapper, "widgets"); !meta.IsNoMatchError(err) {
		t.Errorf("widgets, before they are served: %v, want an error for which IsNoMatchError is true", err)
	}
	server.Resources = append(server.Resources, &metav1.APIResourceList{
		GroupVersion: "example.com/v1",
		APIResources: []metav1.APIResource{{Name: "widgets", SingularName: "widget", Kind: "Widget", Namespaced: true}},
	})
	if _, err := mappingOf(mapper, "widgets"); !meta.IsNoMatchError(err) {
		t.Errorf("widgets, before Reset: %v, want an error for which IsNoMatchError is true", err)
	}
	mapper.Reset()
	if _, err := mappingOf(mapper, "widgets"); err != nil {
		t.Errorf("widgets, after Reset: %v, want no error", err)
	}
}

// A service that passes errors on can answer with their status.
func TestErrorsHaveTheStatusOfTheServer(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	f := factory.New(s.Client, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	lister := f.ConfigMaps().Lister()
	start(t, f)

	_, ofGet := configMaps.Get(t.Context(), "no-such", metav1.GetOptions{})
	_, ofLister := lister.ConfigMaps(s.Namespace).Get("no-such")
	invalid := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "Weather!"}}
	_, ofCreate := configMaps.Create(t.Context(), invalid, metav1.CreateOptions{})
	for name, test := range map[string]struct {
		err  error
		want int32
	}{
		"a client's Get":                {ofGet, http.StatusNotFound},
		"a lister's Get":                {ofLister, http.StatusNotFound},
		"a Create with an invalid name": {ofCreate, http.StatusUnprocessableEntity},
	} {
		var status apierrors.APIStatus
		if !errors.As(test.err, &status) {
			t.Errorf("%s: the error %v has no status, want %d", name, test.err, test.want)
			continue
		}
		if got := status.Status().Code; got != test.want {
			t.Errorf("%s: the error %v has the status %d, want %d", name, test.err, got, test.want)
		}
	}
}
