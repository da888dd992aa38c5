// The pages of the step http. They read the store of an informer. No page makes a request to the
// API server.

package main

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/web"
)

// podPages are the pages of a store of pods, which has an index "app".
type podPages struct{ index cache.Indexer }

func (p podPages) pages() web.Pages {
	return web.Pages{
		"/":                     web.JSON(p.mysqltest),
		"/pods":                 web.JSON(p.pods, "app"),
		"/indexes":              web.JSON(p.indexes),
		"/indexes/:name/:value": web.JSON(p.indexed),
	}
}

// mysqltest is the page that the old tutorials have.
func (p podPages) mysqltest(*gin.Context) (any, error) { return p.keys("app", "mysqltest") }

// indexed answers with the keys under a value of an index.
func (p podPages) indexed(c *gin.Context) (any, error) {
	return p.keys(c.Param("name"), c.Param("value"))
}

// keys returns the keys under a value of an index. A value without keys is not an error.
func (p podPages) keys(name, value string) (any, error) {
	keys, err := p.index.IndexKeys(name, value)
	if err != nil {
		return nil, web.Errorf(http.StatusNotFound, "there is no index %q (known: %q)", name, p.names())
	}
	return sorted(keys), nil
}

// indexes answers with every index and its values.
func (p podPages) indexes(*gin.Context) (any, error) {
	values := map[string][]string{}
	for _, name := range p.names() {
		values[name] = sorted(p.index.ListIndexFuncValues(name))
	}
	return values, nil
}

// sorted never returns nil, because nil is null in JSON.
func sorted(values []string) []string {
	values = append([]string{}, values...)
	slices.Sort(values)
	return values
}

func (p podPages) names() []string { return slices.Sorted(maps.Keys(p.index.GetIndexers())) }

// pods answers with all pods, or with those that have a label app.
func (p podPages) pods(c *gin.Context) (any, error) {
	objs := p.index.List()
	if app, given := c.GetQuery("app"); given {
		objs, _ = p.index.ByIndex("app", app) // no error: the index exists
	}
	type pod struct {
		Namespace string          `json:"namespace"`
		Name      string          `json:"name"`
		Phase     corev1.PodPhase `json:"phase"`
	}
	answer := []pod{} // never null
	for _, obj := range objs {
		o := obj.(*corev1.Pod)
		answer = append(answer, pod{o.Namespace, o.Name, o.Status.Phase})
	}
	slices.SortFunc(answer, func(a, b pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return answer, nil
}
