package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/web"
)

// served returns an informer of pods with the indexes that the pages show.
func served(s *kube.Session) *informer.Informer {
	return informer.New(s.Pods(), &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
		"app":             indexer.ByLabel("app"),
		indexer.Namespace: indexer.ByNamespace,
	}})
}

// overHTTP serves what an informer knows, and asks for it as a client would.
// It listens when the store is complete, and not before.
func overHTTP(ctx context.Context, s *kube.Session) (err error) {
	pods := served(s)
	stop, err := start(ctx, pods)
	if err != nil {
		return err
	}
	defer stop()
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := web.Start(serving, addr, pages(pods.GetIndexer()))
	if err != nil {
		return err
	}
	defer func() { cancel(); err = errors.Join(err, server.Wait()) }()

	if err := runThree(ctx, s, pods.GetIndexer()); err != nil {
		return err
	}
	for _, path := range []string{"/", "/pods?app=web", "/indexes", "/indexes/app/mysqltest", "/indexes/app/none",
		"/indexes/colour/blue", "/pods?colour=blue", "/secrets"} {
		if err := curl(ctx, s, server, path); err != nil {
			return err
		}
	}
	if err := s.DeletePod(ctx, "mysql-0"); err != nil {
		return err
	}
	forgotten := func() bool { return len(pods.GetStore().List()) == 2 }
	if err := flow.Until(ctx, "the store has forgotten the pod", forgotten); err != nil {
		return err
	}
	return curl(ctx, s, server, "/")
}

// runThree runs three pods, and waits until the index shows that they run.
func runThree(ctx context.Context, s *kube.Session, index cache.Indexer) error {
	for _, pod := range [][2]string{{"mysql-0", "mysqltest"}, {"mysql-1", "mysqltest"}, {"web-0", "web"}} {
		if err := runPod(ctx, s, pod[0], pod[1]); err != nil {
			return err
		}
	}
	return flow.Until(ctx, "three pods run", func() bool {
		running := 0
		for _, obj := range index.List() {
			if obj.(*corev1.Pod).Status.Phase == corev1.PodRunning {
				running++
			}
		}
		return running == 3
	})
}

// curl asks for a page, and prints the status and the answer. What differs from
// run to run has its name printed in its place.
func curl(ctx context.Context, s *kube.Session, server *web.Server, path string) error {
	s.Printf("# curl 'http://ADDRESS%s'\n", path)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL()+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the answer to %s: %w", path, err)
	}
	text := strings.ReplaceAll(strings.TrimSpace(string(body)), s.Namespace, "NAMESPACE")
	s.Printf("%d %s\n", response.StatusCode, text)
	return nil
}
