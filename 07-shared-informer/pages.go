// What is served: an informer's store, by its indexes. No page asks the API
// server for anything.

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

// pages show a store of pods that has an index "app".
func pages(index cache.Indexer) web.Pages {
	p := podPages{index}
	return web.Pages{
		"/":                     p.mysqltest,
		"/pods":                 p.pods,
		"/indexes":              p.indexes,
		"/indexes/:name/:value": p.under,
	}
}

type podPages struct{ index cache.Indexer }

// mysqltest is the one page that the old tutorials have.
func (p podPages) mysqltest(c *gin.Context) {
	if _, ok := web.Query(c); ok {
		p.keys(c, "app", "mysqltest")
	}
}

// under gives the keys that are under a value of an index; a value that nobody
// has is no error.
func (p podPages) under(c *gin.Context) {
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

// indexes gives every index with the values in it.
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

// sorted never gives nil, which would be null in JSON.
func sorted(values []string) []string {
	values = append([]string{}, values...)
	slices.Sort(values)
	return values
}

func (p podPages) names() []string { return slices.Sorted(maps.Keys(p.index.GetIndexers())) }

// pods gives all pods, or those with a label app.
func (p podPages) pods(c *gin.Context) {
	query, ok := web.Query(c, "app")
	if !ok {
		return
	}
	objs := p.index.List()
	if app, given := query["app"]; given {
		objs, _ = p.index.ByIndex("app", app) // the index is there
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
