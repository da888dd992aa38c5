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

// pages returns the pages of a store of pods. The store has an index "app".
func pages(index cache.Indexer) web.Pages {
	p := podPages{index}
	return web.Pages{
		"/":                     p.mysqltest,
		"/pods":                 p.pods,
		"/indexes":              p.indexes,
		"/indexes/:name/:value": p.indexed,
	}
}

type podPages struct{ index cache.Indexer }

// mysqltest is the page that the old tutorials have.
func (p podPages) mysqltest(c *gin.Context) {
	if _, ok := web.Query(c); ok {
		p.keys(c, "app", "mysqltest")
	}
}

// indexed answers with the keys under a value of an index. A value without keys is not an error.
func (p podPages) indexed(c *gin.Context) {
	if _, ok := web.Query(c); ok {
		p.keys(c, c.Param("name"), c.Param("value"))
	}
}

func (p podPages) keys(c *gin.Context, name, value string) {
	keys, err := p.index.IndexKeys(name, value)
	if err != nil {
		web.Fail(c, http.StatusNotFound, "there is no index %q (known: %q)", name, p.names())
		return
	}
	c.JSON(http.StatusOK, sorted(keys))
}

// indexes answers with every index and its values.
func (p podPages) indexes(c *gin.Context) {
	if _, ok := web.Query(c); !ok {
		return
	}
	values := map[string][]string{}
	for _, name := range p.names() {
		values[name] = sorted(p.index.ListIndexFuncValues(name))
	}
	c.JSON(http.StatusOK, values)
}

// sorted never returns nil, because nil is null in JSON.
func sorted(values []string) []string {
	values = append([]string{}, values...)
	slices.Sort(values)
	return values
}

func (p podPages) names() []string { return slices.Sorted(maps.Keys(p.index.GetIndexers())) }

// pods answers with all pods, or with those that have a label app.
func (p podPages) pods(c *gin.Context) {
	query, ok := web.Query(c, "app")
	if !ok {
		return
	}
	objs := p.index.List()
	if app, given := query["app"]; given {
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
	c.JSON(http.StatusOK, answer)
}
