package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/07-shared-informer/web"
	"example.com/informer/08-factory/factory"
)

// overHTTP serves what a factory has cached, and asks for it as a client would.
func overHTTP(ctx context.Context, s *kube.Session) (err error) {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	f := newFactory(counted)
	defer f.Shutdown()
	site, err := newSite(f, secrets)
	if err != nil {
		return err
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := web.Start(serving, addr, site.pages())
	if err != nil {
		return err
	}
	defer func() { cancel(); err = errors.Join(err, server.Wait()) }()

	s.Printf("# the server answers, the factory has not started\n")
	if err := curl(ctx, s, server, "/healthz", "/readyz", "/pods"); err != nil {
		return err
	}
	if err := start(ctx, f); err != nil {
		return err
	}
	s.Printf("# it has, and all is synced\n")
	asked.Reset()
	if err := makeObjects(ctx, s, f); err != nil {
		return err
	}
	if err := curl(ctx, s, server, "/readyz", "/", "/pods", "/pods?label=app%3Dweb",
		"/pods?label=app+in+(web,db),app!%3Dweb", "/pods/"+s.Namespace+"/web-0", "/configmaps/"+s.Namespace+"/weather",
		"/deployments", "/pods/"+s.Namespace+"/web-9", "/unicorns", "/secrets", "/secrets/"+s.Namespace+"/key",
		"/pods?label=%3D", "/pods?colour=blue", "/pods/"); err != nil {
		return err
	}
	return ask(ctx, s, server, &asked)
}

// newFactory is the factory behind the pages. Whoever gets an object over HTTP
// does not know what it is, if it does not say so.
func newFactory(s *kube.Session) *factory.Factory {
	return factory.New(s.Clientset, factory.Options{
		Namespace: s.Namespace, Transform: withoutManagedFields, Kinds: true,
	})
}

// makeObjects makes three pods and a ConfigMap, and waits until they are cached.
func makeObjects(ctx context.Context, s *kube.Session, f *factory.Factory) error {
	if err := errors.Join(createPod(ctx, s, "db-0", "db"), createPod(ctx, s, "web-0", "web"),
		createPod(ctx, s, "web-1", "web"), create(ctx, s, "weather", "blue")); err != nil {
		return err
	}
	return flow.Until(ctx, "all are cached", func() bool {
		_, err := f.ConfigMaps().Lister().ConfigMaps(s.Namespace).Get("weather")
		return err == nil && len(f.Pods().Informer().GetStore().ListKeys()) == 3
	})
}

// ask asks for pages, again and again, and prints what that cost the API server.
func ask(ctx context.Context, s *kube.Session, server *web.Server, asked *requests.Counter) error {
	for i := range 100 {
		if _, body, err := get(ctx, server.URL()+"/pods"); err != nil || !strings.Contains(body, "web-1") {
			return fmt.Errorf("asking for the %d. time: %q, %w", i, body, err)
		}
	}
	s.Printf("requests to the API server for all these pages, and a hundred more : %s\n", asked)
	return nil
}

// curl asks for pages, and prints the answers: of objects, only what they are
// called. What differs from run to run has its name printed in its place.
func curl(ctx context.Context, s *kube.Session, server *web.Server, paths ...string) error {
	for _, path := range paths {
		status, body, err := get(ctx, server.URL()+path)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("# curl 'http://ADDRESS%s'\n%d %s\n", path, status, brief(body))
		s.Printf("%s", strings.ReplaceAll(text, s.Namespace, "NAMESPACE"))
	}
	return nil
}

func get(ctx context.Context, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// brief is an answer with its objects called by their names.
func brief(body string) string {
	called := func(obj metav1.PartialObjectMetadata) string {
		return strings.Join([]string{obj.APIVersion, obj.Kind, obj.Name}, " ")
	}
	var obj metav1.PartialObjectMetadata
	var objs []metav1.PartialObjectMetadata
	switch {
	case json.Unmarshal([]byte(body), &obj) == nil && obj.Kind != "":
		return called(obj)
	case json.Unmarshal([]byte(body), &objs) == nil:
		var texts []string
		for _, obj := range objs {
			texts = append(texts, called(obj))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return body // an error, say
}
