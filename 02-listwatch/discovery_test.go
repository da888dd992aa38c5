// What the methods of a discovery client return.

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
)

// A server has gadgets in two versions, and prefers v2.
func TestWhatDiscoveryReturns(t *testing.T) {
	v1 := metav1.GroupVersionForDiscovery{GroupVersion: "example.com/v1", Version: "v1"}
	v2 := metav1.GroupVersionForDiscovery{GroupVersion: "example.com/v2", Version: "v2"}
	gadgets := func(version metav1.GroupVersionForDiscovery) metav1.APIResourceList {
		return metav1.APIResourceList{
			GroupVersion: version.GroupVersion,
			APIResources: []metav1.APIResource{{Name: "gadgets", Kind: "Gadget", Verbs: []string{"list", "watch"}}},
		}
	}
	answers := map[string]any{
		"/api": metav1.APIVersions{},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{
			Name: "example.com", Versions: []metav1.GroupVersionForDiscovery{v2, v1}, PreferredVersion: v2,
		}}},
		"/apis/example.com/v1": gadgets(v1),
		"/apis/example.com/v2": gadgets(v2),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := answers[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // the client finds out if it fails
	}))
	defer server.Close()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	must.NoError(t, err)

	versions := func(lists []*metav1.APIResourceList) (found []string) {
		for _, list := range lists {
			for _, resource := range list.APIResources {
				found = append(found, list.GroupVersion+" "+resource.Name)
			}
		}
		slices.Sort(found)
		return found
	}
	preferred, err := client.ServerPreferredResourcesWithContext(t.Context())
	must.NoError(t, err)
	if got, want := versions(preferred), []string{"example.com/v2 gadgets"}; !slices.Equal(got, want) {
		t.Errorf("ServerPreferredResources() = %q, want %q", got, want)
	}
	groups, all, err := client.ServerGroupsAndResourcesWithContext(t.Context())
	must.NoError(t, err)
	i := slices.IndexFunc(groups, func(group *metav1.APIGroup) bool { return group.Name == "example.com" })
	if i < 0 || !slices.Equal(groups[i].Versions, []metav1.GroupVersionForDiscovery{v2, v1}) {
		t.Errorf("ServerGroupsAndResources() returned the groups %v, want example.com with both versions", groups)
	}
	want := []string{"example.com/v1 gadgets", "example.com/v2 gadgets"}
	if got := versions(all); !slices.Equal(got, want) {
		t.Errorf("ServerGroupsAndResources() = %q, want %q", got, want)
	}
}
