// The API server that both factories watch, and what happens on it.

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A server is a control plane with nothing but the API: nobody changes objects
// but us.
type server struct {
	kubeconfig string
	configMaps typed.ConfigMapInterface
	filled     int // how many objects there are
}

// newServer makes the namespace for the objects.
func newServer(ctx context.Context, kubeconfig string) (*server, error) {
	client, err := connect(kubeconfig, func(config *rest.Config) { config.QPS = -1 })
	if err != nil {
		return nil, err
	}
	_, err = client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	return &server{kubeconfig: kubeconfig, configMaps: client.CoreV1().ConfigMaps(namespace)}, err
}

// connect makes a client that speaks protobuf, as the controllers of Kubernetes
// do, of a configuration that was changed.
func connect(kubeconfig string, change func(*rest.Config)) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	change(config)
	return kubernetes.NewForConfig(config)
}

// writers is how many requests are under way at the same time, at most.
const writers = 16

// fill creates objects until there are so many.
func (s *server) fill(ctx context.Context, objects int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for ; s.filled < objects && ctx.Err() == nil; s.filled++ {
		n := s.filled
		group.Go(func() error {
			_, err := s.configMaps.Create(ctx, newConfigMap(n), metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}

// change changes n random objects, at an even pace if the server keeps up.
func (s *server) change(ctx context.Context, n, rate int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	start := time.Now()
	for i := range n {
		select {
		case <-time.After(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate)))):
		case <-ctx.Done():
		}
		group.Go(func() error {
			_, err := s.configMaps.Update(ctx, newConfigMap(rand.IntN(s.filled)), metav1.UpdateOptions{})
			return err
		})
	}
	return group.Wait()
}

// versions lists all objects, and returns the version of each by its number.
func (s *server) versions(ctx context.Context) ([]uint64, error) {
	list, err := s.configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	versions := make([]uint64, s.filled)
	for i := range list.Items {
		n, version, err := number(&list.Items[i])
		if err != nil || n >= len(versions) {
			return nil, fmt.Errorf("listing what is there: %s is not expected: %w", list.Items[i].Name, err)
		}
		versions[n] = version
	}
	return versions, nil
}
