// A benchmark of reads: from the cache, and from the server.

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
)

// BenchmarkReads reads one of 1,000 ConfigMaps of 1 KiB, or all of them. Its output is
// docs/lab/load/reads.txt.
func BenchmarkReads(b *testing.B) {
	s, err := session.Open(b.Context(), session.Options{})
	must.NoError(b, err)
	b.Cleanup(func() { must.NoError(b, s.Close(context.Background())) })
	var filling errgroup.Group
	filling.SetLimit(10)
	for i := range 1000 {
		filling.Go(func() error {
			_, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Create(b.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", i)},
				Data:       map[string]string{"kib": randomText(1024)},
			}, metav1.CreateOptions{})
			return err
		})
	}
	must.NoError(b, filling.Wait())

	received := &meter{}
	config := rest.CopyConfig(s.Config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	received.count(config)
	client, err := kubernetes.NewForConfig(config)
	must.NoError(b, err)
	b.Cleanup(func() {
		utilnet.CloseIdleConnectionsFor(client.CoreV1().RESTClient().(*rest.RESTClient).Client.Transport)
	})
	f := factory.New(client, factory.Options{Namespace: s.Namespace})
	cached := f.ConfigMaps().Lister().ConfigMaps(s.Namespace)
	f.Start(b.Context())
	must.NoError(b, f.WaitForCacheSync(b.Context()))
	b.Cleanup(f.Shutdown)
	configMaps := client.CoreV1().ConfigMaps(s.Namespace)
	list := func(version string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := configMaps.List(ctx, metav1.ListOptions{ResourceVersion: version})
			return err
		}
	}
	for _, read := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"cache/one", func(context.Context) error {
			_, err := cached.Get("c7")
			return err
		}},
		{"cache/all", func(context.Context) error {
			_, err := cached.List(labels.Everything())
			return err
		}},
		{"GET", func(ctx context.Context) error {
			_, err := configMaps.Get(ctx, "c7", metav1.GetOptions{})
			return err
		}},
		{"LIST/newest", list("")},
		{"LIST/any", list("0")},
	} {
		b.Run(read.name, func(b *testing.B) {
			before := received.bytes.Load()
			for b.Loop() {
				must.NoError(b, read.do(b.Context()))
			}
			b.ReportMetric(float64(received.bytes.Load()-before)/float64(b.N)/1024, "KiB-received/op")
		})
	}
}

// randomText returns a text that is hard to compress.
func randomText(length int) string {
	text := ""
	for len(text) < length {
		text += rand.Text()
	}
	return text[:length]
}
