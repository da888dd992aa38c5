package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
)

// byApp keeps an index of pods by their label app. At each call its handler
// looks into the index, which has changed by then, and shows it if it differs.
func byApp(ctx context.Context, s *kube.Session) error {
	pods := informer.New(s.Pods(), &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{"app": indexer.ByLabel("app")},
	})
	before := ""
	look := func(any) {
		if now := show(pods.GetIndexer(), "app"); now != before {
			s.Printf("%s\n", now)
			before = now
		}
	}
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: look, UpdateFunc: func(_, pod any) { look(pod) }, DeleteFunc: look,
	}); err != nil {
		return err
	}
	stop, err := start(ctx, pods)
	if err != nil {
		return err
	}
	defer stop()

	return play(ctx, s,
		act{func() error { return runPod(ctx, s, "mysql-0", "mysqltest") }, "by app : mysqltest [mysql-0]\n"},
		act{func() error { return runPod(ctx, s, "web-0", "web") }, "by app : mysqltest [mysql-0] web [web-0]\n"},
		act{func() error { return labelPod(ctx, s, "web-0", "mysqltest") }, "by app : mysqltest [mysql-0 web-0]\n"},
		act{func() error { return s.DeletePod(ctx, "mysql-0") }, "by app : mysqltest [web-0]\n"},
	)
}

// show tells what is in an index: the values, and the names under each.
func show(index cache.Indexer, name string) string {
	text := "by " + name + " :"
	for _, value := range slices.Sorted(slices.Values(index.ListIndexFuncValues(name))) {
		objs, _ := index.ByIndex(name, value) // the index is there
		var names []string
		for _, obj := range objs {
			names = append(names, obj.(*corev1.Pod).Name)
		}
		slices.Sort(names)
		text += fmt.Sprintf(" %s [%s]", value, strings.Join(names, " "))
	}
	return text
}
