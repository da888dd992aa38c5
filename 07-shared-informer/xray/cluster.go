// The cluster: the line to it, with a cable that can be pulled out and a meter on it,
// and the objects that the buttons change.

package xray

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/netfault"
)

// A Line is the way from two clients to the API server: one for our informer, one
// for client-go's. What comes for the first is counted.
type Line struct {
	Client, Theirs kubernetes.Interface

	proxy *netfault.Proxy
	bytes atomic.Int64
	cut   atomic.Bool
}

// NewLine makes a line to the API server that config names. Close ends it.
func NewLine(config *rest.Config) (*Line, error) {
	proxy, err := netfault.For(config)
	if err != nil {
		return nil, err
	}
	l := &Line{proxy: proxy}
	ours, theirs := rest.CopyConfig(config), rest.CopyConfig(config)
	ours.Dial, theirs.Dial = l.dial, proxy.Dial
	if l.Client, err = kubernetes.NewForConfig(ours); err == nil {
		l.Theirs, err = kubernetes.NewForConfig(theirs)
	}
	if err != nil {
		return nil, fmt.Errorf("making a client that goes through the proxy: %w", err)
	}
	return l, nil
}

// Close ends the line and its connections.
func (l *Line) Close() { l.proxy.Close() }

func (l *Line) pull() {
	l.cut.Store(true)
	l.proxy.Pull()
}

func (l *Line) restore() {
	l.proxy.Restore()
	l.cut.Store(false)
}

func (l *Line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.proxy.Dial(ctx, network, address)
	return metered{conn, &l.bytes}, err
}

// metered counts what is read from a connection.
type metered struct {
	net.Conn
	bytes *atomic.Int64
}

func (m metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.bytes.Add(int64(n))
	return n, err
}

// Objects changes the objects of one type in one namespace.
type Objects struct {
	Create func(ctx context.Context, name string, labels map[string]string) error
	Patch  func(ctx context.Context, name string, mergePatch []byte) error
	Delete func(ctx context.Context, name string) error // at once, without a grace period
}

// ConfigMaps are the ConfigMaps of a namespace.
func ConfigMaps(client kubernetes.Interface, namespace string) Objects {
	return objectsOf(client.CoreV1().ConfigMaps(namespace), func(about metav1.ObjectMeta) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: about}
	})
}

// Pods are the pods of a namespace.
func Pods(client kubernetes.Interface, namespace string) Objects {
	return objectsOf(client.CoreV1().Pods(namespace), func(about metav1.ObjectMeta) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: about, Spec: corev1.PodSpec{
			Containers:                    []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.2"}},
			TerminationGracePeriodSeconds: new(int64(0)),
		}}
	})
}

// objectsOf are those of a client of one type, as clientsets have it.
func objectsOf[T any](c interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}, object func(metav1.ObjectMeta) T) Objects {
	return Objects{
		Create: func(ctx context.Context, name string, labels map[string]string) error {
			_, err := c.Create(ctx, object(metav1.ObjectMeta{Name: name, Labels: labels}), metav1.CreateOptions{})
			return err
		},
		Patch: func(ctx context.Context, name string, mergePatch []byte) error {
			_, err := c.Patch(ctx, name, types.MergePatchType, mergePatch, metav1.PatchOptions{})
			return err
		},
		Delete: func(ctx context.Context, name string) error {
			return c.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		},
	}
}
