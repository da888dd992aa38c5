// The benchmark. It runs in the process that makes the load.

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/docs/lab/report"
	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	serveClient()
	goleak.VerifyTestMain(m)
}

// BenchmarkLoad measures the two factories on a control plane of its own, without controllers, scheduler
// and nodes, so that only the benchmark changes objects. It reports each result as a sub-benchmark, which
// measures nothing itself. Ctrl-C stops the control plane, so that the requests fail.
func BenchmarkLoad(b *testing.B) {
	p := newPlan(testing.Short())
	ctx, stop := signal.NotifyContext(b.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	plane, err := local.Start(ctx, local.Options{
		Dir: filepath.Join(b.TempDir(), "plane"), Options: binaries.Options{Progress: os.Stderr},
		Disable: []string{local.ControllerManager, local.Scheduler, local.Node},
	})
	must.NoError(b, err)
	stopPlane := sync.OnceValue(plane.Stop)
	b.Cleanup(func() { must.NoError(b, stopPlane()) })
	context.AfterFunc(ctx, func() { _ = stopPlane() })
	kubeconfig := plane.Kubeconfig()
	client, err := connect(kubeconfig, func(config *rest.Config) { config.QPS = -1 })
	must.NoError(b, err)
	defer utilnet.CloseIdleConnectionsFor(client.CoreV1().RESTClient().(*rest.RESTClient).Client.Transport)
	_, err = client.CoreV1().Namespaces().Create(b.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must.NoError(b, err)
	s := &server{configMaps: client.CoreV1().ConfigMaps(namespace)}
	for _, objects := range p.sizes {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			s.fill(b, objects)
			changeAll(b, p, s, syncAll(b, p, Settings{Kubeconfig: kubeconfig, Objects: objects}))
		})
	}
}

// connect makes a client that uses protobuf, as the controllers of Kubernetes do. A function can
// change the configuration.
func connect(kubeconfig string, change func(*rest.Config)) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	change(config)
	return kubernetes.NewForConfig(config)
}

// syncAll syncs both factories in each round, one after the other, so that they do not compete.
// They take turns in being first. It returns the processes of the last round, which continue to
// run: both get the changes at the same time.
func syncAll(b *testing.B, p plan, settings Settings) (stay []*process) {
	order := []string{report.Theirs, ours}
	for round := range p.rounds {
		for _, settings.Factory = range order {
			client := startProcess(b, settings.Factory)
			client.report(b, "Sync", "Sync", settings)
			client.report(b, "MemoryAfterSync", "Memory", 0)
			if round == p.rounds-1 {
				stay = append(stay, client)
			} else {
				client.close()
			}
		}
		slices.Reverse(order)
	}
	return stay
}

// changeAll makes changes, and measures the clients meanwhile. Then it compares the objects that
// the handlers have seen with a new list.
func changeAll(b *testing.B, p plan, s *server, clients []*process) {
	for _, client := range clients {
		client.call(b, "Slice", 0) // the next one measures from here
	}
	totalBefore, busyBefore := coreSeconds()
	start := time.Now()
	changes := int(p.slice.Seconds() * float64(p.rate))
	for range p.slices {
		s.change(b, changes, p.rate)
		for _, client := range clients {
			client.report(b, "Changes", "Slice", 0)
		}
	}
	machine := Values{"changes/s": float64(p.slices*changes) / time.Since(start).Seconds()}
	if total, busy := coreSeconds(); total > totalBefore {
		machine["busy-%"] = 100 * (busy - busyBefore) / (total - totalBefore)
	}
	machine.report(b, "Machine")
	versions := s.versions(b)
	for _, client := range clients {
		client.report(b, "MemoryAfterChanges", "Memory", 0)
		client.report(b, "Handlers", "Check", versions)
	}
}

// report reports the values as the result of a benchmark.
func (v Values) report(b *testing.B, name string) {
	b.Run(name, func(b *testing.B) {
		b.ReportMetric(0, "ns/op") // this removes the time of this function from the result
		for unit, value := range v {
			b.ReportMetric(value, unit)
		}
	})
}

// coreSeconds returns the time of all cores since the start of the machine, in seconds: in total,
// and the part in which they were busy. Both are 0 on a system without /proc.
func coreSeconds() (total, busy float64) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0, 0
	}
	cpu := stat.CPUTotal // User includes the time of guests
	busy = cpu.User + cpu.Nice + cpu.System + cpu.IRQ + cpu.SoftIRQ + cpu.Steal
	return busy + cpu.Idle + cpu.Iowait, busy
}

// A server has the objects that both factories watch.
type server struct {
	configMaps typed.ConfigMapInterface
	filled     int // the number of objects
}

// fill creates objects until there are this many.
func (s *server) fill(b *testing.B, objects int) {
	do(b, objects-s.filled, func(ctx context.Context, i int) error {
		_, err := s.configMaps.Create(ctx, newConfigMap(s.filled+i), metav1.CreateOptions{})
		return err
	})
	s.filled = objects
}

// change changes n random objects, at this number per second if the server keeps up.
func (s *server) change(b *testing.B, n, rate int) {
	start := time.Now()
	due := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second / time.Duration(rate)) }
	do(b, n, func(ctx context.Context, i int) error {
		time.Sleep(time.Until(due(i)))
		_, err := s.configMaps.Update(ctx, newConfigMap(rand.IntN(s.filled)), metav1.UpdateOptions{})
		return err
	})
}

// do makes n requests. At most 16 of them are in flight at the same time.
func do(b *testing.B, n int, request func(ctx context.Context, i int) error) {
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(16)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		group.Go(func() error { return request(ctx, i) })
	}
	must.NoError(b, group.Wait())
}

// versions lists all objects, and returns the version of each by its number.
func (s *server) versions(b *testing.B) []uint64 {
	list, err := s.configMaps.List(b.Context(), metav1.ListOptions{})
	must.NoError(b, err)
	versions := make([]uint64, s.filled)
	for i := range list.Items {
		n, version, err := number(&list.Items[i])
		if err != nil || n >= len(versions) {
			b.Fatalf("the list has %s, number %d, error %v; want only our %d ConfigMaps",
				list.Items[i].Name, n, err, len(versions))
		}
		versions[n] = version
	}
	return versions
}
