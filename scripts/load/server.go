// The API server that both factories watch, and what happens on it.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/cluster/local"
)

// A server is a control plane of its own, with nothing but the API: nobody
// changes objects but us.
type server struct {
	dir        string
	plane      *local.ControlPlane
	configMaps typed.ConfigMapInterface
	close      func() // our connections
	filled     int    // how many objects there are
}

// startServer starts it. Close ends it and removes its files.
func startServer(ctx context.Context, progress io.Writer) (*server, error) {
	dir, err := os.MkdirTemp("", "load-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the control plane: %w", err)
	}
	s := &server{dir: dir, close: func() {}}
	options := local.Options{Dir: filepath.Join(dir, "plane"), APIOnly: true, Progress: progress}
	if s.plane, err = local.Start(ctx, options); err == nil {
		err = s.connect(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a control plane: %w", err), s.Close())
	}
	return s, nil
}

func (s *server) connect(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.plane.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	s.close = func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }
	client, err := kubernetes.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return err
	}
	s.configMaps = client.CoreV1().ConfigMaps(namespace)
	_, err = client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	return err
}

// Close ends the control plane and removes its files.
func (s *server) Close() error {
	s.close()
	var err error
	if s.plane != nil {
		err = s.plane.Stop()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
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
