// Claims of the book about lists in pages, tested on the pinned version of client-go, without a
// cluster.

package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// inPages makes a server divide its lists as an API server with a watch cache does: by the limit of
// the request, but not if the request is from version 0. It notes each request. A list has at most
// two pages.
func inPages(server *fakeapi.Server, asked *[]string) {
	whole := server.ListWithContextFunc
	server.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		answer, err := whole(ctx, o)
		if err != nil {
			return nil, err
		}
		list := answer.(*corev1.List)
		limit := min(int(o.Limit), len(list.Items))
		switch {
		case o.Continue != "":
			list.Items = list.Items[limit:]
		case o.Limit > 0 && o.ResourceVersion != "0" && limit < len(list.Items):
			list.Items, list.Continue = list.Items[:limit], "more"
		}
		*asked = append(*asked, fmt.Sprintf("from %q, limit %d, continue %q: %d",
			o.ResourceVersion, o.Limit, o.Continue, len(list.Items)))
		return list, nil
	}
}

func TestAPageSizeDoesNotDivideTheFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"), fakeapi.ConfigMap("b", "1"))
		var asked []string
		inPages(server, &asked)
		reflector := cache.NewReflector(server, &corev1.ConfigMap{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
		reflector.WatchListPageSize = 1
		stop := must.Run(t, reflector.RunWithContext)
		fakeapi.Expire(server.NextWatch())
		server.NextWatch()
		stop()
		want := []string{`from "0", limit 1, continue "": 2`,
			`from "1", limit 1, continue "": 1`, `from "", limit 1, continue "more": 1`}
		if !slices.Equal(asked, want) {
			t.Errorf("requests %q, want %q", asked, want)
		}
	})
}

func TestAPageSizeDoesNotDivideAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan metav1.ListOptions, 10)
		reflector := cache.NewReflector(&cache.ListWatch{
			WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
				asked <- o
				return watch.NewFake(), nil
			},
		}, &corev1.ConfigMap{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
		reflector.WatchListPageSize = 1
		must.Run(t, reflector.RunWithContext)
		if o := <-asked; o.SendInitialEvents == nil || !*o.SendInitialEvents || o.Limit != 0 {
			t.Errorf("the first request has the options %v, want a stream without a limit", o)
		}
	})
}

// newestInPages asks for the newest state where a reflector asks for any.
type newestInPages struct{ *fakeapi.Server }

func (s newestInPages) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.ResourceVersion == "0" {
		o.ResourceVersion = ""
	}
	return s.Server.ListWithContext(ctx, o)
}

func TestASharedInformerListsInPagesIfItsFirstListIsNotFrom0(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var objs []runtime.Object
		for i := range 501 {
			objs = append(objs, fakeapi.ConfigMap(fmt.Sprint(i), "1"))
		}
		server := fakeapi.New(objs...)
		var asked []string
		inPages(server, &asked)
		informer := cache.NewSharedIndexInformer(newestInPages{server}, &corev1.ConfigMap{}, 0, cache.Indexers{})
		stop := must.Run(t, informer.RunWithContext)
		fakeapi.Expire(server.NextWatch())
		server.NextWatch()
		synctest.Wait()
		if got := len(informer.GetStore().ListKeys()); got != 501 {
			t.Errorf("%d objects in the store, want 501", got)
		}
		stop()
		want := []string{`from "", limit 500, continue "": 500`, `from "", limit 500, continue "more": 1`,
			`from "1", limit 500, continue "": 500`, `from "", limit 500, continue "more": 1`}
		if !slices.Equal(asked, want) {
			t.Errorf("requests %q, want %q", asked, want)
		}
	})
}

func TestWhatHasAPageSize(t *testing.T) {
	for options, want := range map[reflect.Type]bool{
		reflect.TypeFor[cache.Reflector]():                  true,
		reflect.TypeFor[cache.Config]():                     true,
		reflect.TypeFor[cache.InformerOptions]():            false,
		reflect.TypeFor[cache.SharedIndexInformerOptions](): false,
	} {
		if _, has := options.FieldByName("WatchListPageSize"); has != want {
			t.Errorf("%v has a WatchListPageSize: %t, want %t", options, has, want)
		}
	}
}
