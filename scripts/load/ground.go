// The control plane that both factories watch, and what happens on it.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/load/objects"
)

// A ground is a control plane of its own, with nothing but the API: nobody
// changes objects but us.
type ground struct {
	dir    string
	plane  *local.ControlPlane
	client kubernetes.Interface
	close  func() // the client's connections
	filled int    // how many objects there are
}

// openGround starts it. Close ends it and removes its files.
func openGround(ctx context.Context, progress io.Writer) (*ground, error) {
	dir, err := os.MkdirTemp("", "load-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the control plane: %w", err)
	}
	g := &ground{dir: dir, close: func() {}}
	if err := g.open(ctx, progress); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a control plane: %w", err), g.Close())
	}
	return g, nil
}

func (g *ground) open(ctx context.Context, progress io.Writer) (err error) {
	g.plane, err = local.Start(ctx, local.Options{Dir: filepath.Join(g.dir, "plane"), APIOnly: true, Progress: progress})
	if err != nil {
		return err
	}
	if err := g.connect(); err != nil {
		return err
	}
	_, err = g.client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: objects.Namespace}}, metav1.CreateOptions{})
	return err
}

func (g *ground) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", g.plane.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	g.close = func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }
	g.client, err = kubernetes.NewForConfigAndClient(config, httpClient)
	return err
}

// Close ends the control plane and removes its files.
func (g *ground) Close() error {
	g.close()
	var err error
	if g.plane != nil {
		err = g.plane.Stop()
	}
	return errors.Join(err, os.RemoveAll(g.dir))
}

// fill creates objects until there are so many.
func (g *ground) fill(ctx context.Context, objs int) error {
	first := g.filled
	g.filled = objs
	return g.each(ctx, objs-first, func(ctx context.Context, i int) error {
		_, err := g.client.CoreV1().ConfigMaps(objects.Namespace).Create(ctx, objects.New(first+i), metav1.CreateOptions{})
		return err
	})
}

// change changes random objects, at an even pace if the server keeps up, and
// returns how many it has changed.
func (g *ground) change(ctx context.Context, rate int, duration time.Duration) (int, error) {
	changes := int(duration.Seconds() * float64(rate))
	start := time.Now()
	err := g.each(ctx, changes, func(ctx context.Context, i int) error {
		select {
		case <-time.After(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate)))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		_, err := g.client.CoreV1().ConfigMaps(objects.Namespace).Update(ctx, objects.New(rand.IntN(g.filled)), metav1.UpdateOptions{})
		return err
	})
	return changes, err
}

// each calls do with 0 to n-1, several at a time, until one fails.
func (g *ground) each(ctx context.Context, n int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// versions lists all objects, and returns the version of each by its number.
func (g *ground) versions(ctx context.Context) ([]uint64, error) {
	list, err := g.client.CoreV1().ConfigMaps(objects.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	versions := make([]uint64, g.filled)
	for i := range list.Items {
		n, version, err := objects.Number(&list.Items[i])
		if err != nil || n >= len(versions) {
			return nil, fmt.Errorf("listing what is there: %s is not expected: %w", list.Items[i].Name, err)
		}
		versions[n] = version
	}
	return versions, nil
}
