// Tests of the table "Which constructor": the functions of client-go that make informers.

//lint:file-ignore SA1019 the table has the deprecated functions, too

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// constructors are the functions that make informers or factories of informers, by the file of
// client-go that declares them. The value says whether the function is deprecated. (Each built-in
// type has a file like pod.go.)
var constructors = map[string]map[string]bool{
	"tools/cache/controller.go": {
		"New": false, "NewInformerWithOptions": false, "NewInformer": true, "NewIndexerInformer": true,
		"NewTransformingInformer": true, "NewTransformingIndexerInformer": true,
	},
	"tools/cache/shared_informer.go": {
		"NewSharedInformer": false, "NewSharedIndexInformer": false, "NewSharedIndexInformerWithOptions": false,
		"NewTypedSharedIndexInformer": false,
	},
	"tools/cache/reflector.go": {"NewNamespaceKeyedIndexerAndReflector": false},
	"informers/factory.go": {
		"NewSharedInformerFactory": false, "NewSharedInformerFactoryWithOptions": false,
		"NewFilteredSharedInformerFactory": true,
	},
	"informers/core/v1/pod.go": {
		"NewPodInformer": false, "NewFilteredPodInformer": false, "NewPodInformerWithOptions": false,
		"NewTypedPodInformer": false, "NewTypedFilteredPodInformer": false, "NewTypedPodInformerWithOptions": false,
	},
	"dynamic/dynamicinformer/informer.go": {
		"NewDynamicSharedInformerFactory": false, "NewFilteredDynamicSharedInformerFactory": false,
		"NewFilteredDynamicInformer": false,
	},
	"metadata/metadatainformer/informer.go": {
		"NewSharedInformerFactory": false, "NewSharedInformerFactoryWithOptions": false,
		"NewFilteredSharedInformerFactory": false, "NewFilteredMetadataInformer": false,
	},
}

func TestTheConstructorsOfClientGo(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	must.NoError(t, err)
	makesInformers := regexp.MustCompile(`^New$|^New.*Informer|^NewNamespaceKeyedIndexer`)
	for file, want := range constructors {
		source := filepath.Join(strings.TrimSpace(string(root)), filepath.FromSlash(file))
		parsed, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
		must.NoError(t, err)
		got := map[string]bool{}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && makesInformers.MatchString(f.Name.Name) {
				got[f.Name.Name] = strings.Contains(f.Doc.Text(), "Deprecated:")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("constructors in %s, and whether they are deprecated (-table +client-go):\n%s", file, diff)
		}
	}
}

// NewInformerWithOptions can replace each of the four deprecated functions.
func TestTheConstructorsForOneHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var added []string
		handler := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			added = append(added, obj.(*corev1.ConfigMap).Labels["seen"])
		}}
		transform := func(obj any) (any, error) {
			obj.(*corev1.ConfigMap).Labels = map[string]string{"seen": "transformed"}
			return obj, nil
		}
		indexers := cache.Indexers{"name": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.ConfigMap).Name}, nil
		}}
		run := func(store cache.Store, controller cache.Controller, indexed bool) {
			defer must.Run(t, controller.RunWithContext)()
			cache.WaitFor(t.Context(), "", controller.HasSyncedChecker())
			_, err := store.(cache.Indexer).ByIndex("name", "a")
			if got := err == nil; got != indexed {
				t.Errorf("ByIndex(name, a): error %v, indexed = %t; want %t", err, got, indexed)
			}
		}
		lw := func() cache.ListerWatcher { return fakeapi.New(fakeapi.ConfigMap("a", "1")) }
		objectType := &corev1.ConfigMap{}

		plain, controller := cache.NewInformer(lw(), objectType, 0, handler)
		run(plain, controller, false)
		indexer, controller := cache.NewIndexerInformer(lw(), objectType, 0, handler, indexers)
		run(indexer, controller, true)
		plain, controller = cache.NewTransformingInformer(lw(), objectType, 0, handler, transform)
		run(plain, controller, false)
		indexer, controller = cache.NewTransformingIndexerInformer(lw(), objectType, 0, handler, indexers, transform)
		run(indexer, controller, true)
		plain, controller = cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: lw(), ObjectType: objectType,
			Handler: handler, Indexers: indexers, Transform: transform})
		run(plain, controller, true)

		want := []string{"", "", "transformed", "transformed", "transformed"}
		if !slices.Equal(added, want) {
			t.Errorf("the labels of the objects in OnAdd are %q, want %q", added, want)
		}
	})
}
