// Package versions checks docs/reference/resource-versions.md. It compares each cell of the tables
// with the answer of an API server, or with the requests of a reflector.
package versions

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second handler sleeps, with the real clock
	code := m.Run()
	if shared != nil {
		shared.stop()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		log.Fatal(err)
	}
	os.Exit(code)
}

var decoration = regexp.MustCompile("`|\\*\\*| ?\\[✓\\]\\([^)]*\\)")

// tableOf returns the rows of the first table below a heading of the page, as plain text.
func tableOf(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../reference/resource-versions.md")
	must.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "\n## "+heading+"\n")
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(decoration.ReplaceAllString(line, ""), "| \n"), " | "))
		} else if len(rows) > 0 {
			break
		}
	}
	if len(rows) < 3 {
		t.Fatalf("there is no table below the heading %q", heading)
	}
	return rows[2:] // without the headings
}

// compare fails if a cell of a table differs from the observation.
func compare(t *testing.T, row []string, column int, got string) {
	t.Helper()
	if row[column] != got {
		t.Errorf("%s\ncolumn %d: the page says %q, the test observed %q",
			strings.Join(row, " | "), column+1, row[column], got)
	}
}

// servers are two API servers on one etcd. The objects are PodTemplates, which no other program
// lists.
type servers struct {
	cluster       *local.Cluster // with the first server
	process       *exec.Cmd      // the second server
	config        *rest.Config   // of the first server
	address       string         // of the second server
	client        *http.Client   // for both servers
	first, second kubernetes.Interface
	proxy         *http.Server      // between the second server and etcd
	toEtcd        *http.Transport   // of the proxy
	held          sync.RWMutex      // locked while the second server gets no events from etcd
	versions      map[string]string // resource versions, by their names on the page
	created       []string          // the versions of the objects, in the order of their creation
}

var shared *servers // all tests use the same servers, and none of the tests is parallel

// startServers returns the servers. The first call starts them. The second server starts after a
// compaction and some writes, so that its watch cache begins in the middle of the history.
func startServers(t *testing.T) *servers {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	if shared != nil {
		return shared
	}
	dir, err := os.MkdirTemp("", "versions-")
	must.NoError(t, err)
	s := &servers{versions: map[string]string{"0": "0", "compacted": "1", "future": "999999999", "x": "x"}}
	s.startFirst(t, dir)
	s.compact(t)
	s.create(t, "a")
	s.versions["before the cache"] = s.create(t, "b")
	s.write(t)
	s.startSecond(t)
	shared = s
	s.connectSecond(t)
	s.versions["V"] = s.create(t, "c")
	s.create(t, "d")
	s.waitUntilUpToDate(t)
	return s
}

// startFirst starts etcd and the first server.
func (s *servers) startFirst(t *testing.T, dir string) {
	t.Helper()
	var err error
	s.cluster, err = local.Start(t.Context(), local.Options{Dir: dir, Options: binaries.Options{Progress: t.Output()},
		Disable: []string{local.ControllerManager, local.Scheduler, local.Node},
		// Without this, the server would compact the versions of the page if the tests take long.
		APIServerArgs: []string{"--etcd-compaction-interval=0"}})
	must.NoError(t, err)
	s.config, err = clientcmd.BuildConfigFromFlags("", s.cluster.Kubeconfig())
	must.NoError(t, err)
	s.config.QPS, s.config.ContentType = -1, runtime.ContentTypeJSON
	s.client, err = rest.HTTPClientFor(s.config)
	must.NoError(t, err)
	s.first, err = kubernetes.NewForConfigAndClient(s.config, s.client)
	must.NoError(t, err)
}

// compact makes etcd forget all versions before the current one.
func (s *servers) compact(t *testing.T) {
	t.Helper()
	compaction := fmt.Sprintf(`{"revision":%q,"physical":true}`, s.write(t))
	etcd, err := s.cluster.EtcdClient()
	must.NoError(t, err)
	s.toEtcd = etcd.Transport.(*http.Transport)
	response, err := etcd.Post(s.cluster.EtcdURL()+"/v3/kv/compaction", "", strings.NewReader(compaction))
	must.NoError(t, err)
	response.Body.Close()
}

// startSecond starts the second server, with the arguments of the first one, behind a proxy to
// etcd.
func (s *servers) startSecond(t *testing.T) {
	t.Helper()
	proxy := s.startProxy(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	free.Close()
	s.address = free.Addr().String()
	s.process, err = s.cluster.Command(local.APIServer)
	must.NoError(t, err)
	for i, arg := range s.process.Args {
		s.process.Args[i] = strings.Replace(arg, s.cluster.EtcdURL(), "http://"+proxy, 1)
	}
	s.process.Args = append(s.process.Args, fmt.Sprintf("--secure-port=%d", free.Addr().(*net.TCPAddr).Port),
		"--min-request-timeout=1",
		// Both would read from the watch cache now and then, wait for it, and so change listCounts and cacheWait.
		"--feature-gates=DetectCacheInconsistency=false,SizeBasedListCostEstimate=false")
	must.NoError(t, s.process.Start())
}

// startProxy starts a proxy to etcd that can hold back the events of watches, and returns its
// address.
func (s *servers) startProxy(t *testing.T) (address string) {
	t.Helper()
	etcd, err := url.Parse(s.cluster.EtcdURL())
	must.NoError(t, err)
	http2 := new(http.Protocols) // for gRPC
	http2.SetUnencryptedHTTP2(true)
	s.proxy = &http.Server{Protocols: http2, Handler: &httputil.ReverseProxy{
		Transport: s.toEtcd,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(etcd) },
		ErrorLog:  log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path == "/etcdserverpb.Watch/Watch" {
				r.Body = events{r.Body, &s.held}
			}
			return nil
		},
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	go func() { _ = s.proxy.Serve(listener) }()
	return listener.Addr().String()
}

// connectSecond makes a client of the second server, and waits until the server is ready.
func (s *servers) connectSecond(t *testing.T) {
	t.Helper()
	config := rest.CopyConfig(s.config)
	config.Host = s.address
	var err error
	s.second, err = kubernetes.NewForConfigAndClient(config, s.client)
	must.NoError(t, err)
	must.Until(t, "the second server is ready", func() bool {
		_, err := s.second.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context())
		return err == nil
	})
}

// events is the body of etcd's answer to a watch. A Read returns only while the events are not held
// back.
type events struct {
	io.ReadCloser
	held *sync.RWMutex
}

func (e events) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.held.RLock()
	defer e.held.RUnlock()
	return n, err
}

// hold makes the second server lag until release is called, or the test ends.
func (s *servers) hold(t *testing.T) (release func()) {
	s.held.Lock()
	release = sync.OnceFunc(s.held.Unlock)
	t.Cleanup(release)
	return release
}

// stop stops both servers and etcd.
func (s *servers) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.proxy.Close()
	s.toEtcd.CloseIdleConnections()
	s.client.CloseIdleConnections()
	if err := s.cluster.Stop(); err != nil {
		log.Fatal(err)
	}
}

// write writes an object of another type, and returns its version.
func (s *servers) write(t *testing.T) string {
	t.Helper()
	configMap, err := s.first.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x"}}, metav1.CreateOptions{})
	must.NoError(t, err)
	return configMap.ResourceVersion
}

// create creates an object through the first server, and returns its version.
func (s *servers) create(t *testing.T, name string) string {
	t.Helper()
	object := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}}
	object.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	object, err := s.first.CoreV1().PodTemplates("default").Create(t.Context(), object, metav1.CreateOptions{})
	must.NoError(t, err)
	s.created = append(s.created, object.ResourceVersion)
	return object.ResourceVersion
}

// list sends a LIST to the second server. It does not repeat a LIST that fails, as the REST client
// does by default.
func (s *servers) list(t *testing.T, o metav1.ListOptions) (list corev1.PodTemplateList, err error) {
	err = s.second.CoreV1().RESTClient().Get().Namespace("default").Resource("podtemplates").
		VersionedParams(&o, scheme.ParameterCodec).MaxRetries(0).Do(t.Context()).Into(&list)
	return list, err
}

// waitUntilUpToDate waits until the watch cache of the second server has all objects.
func (s *servers) waitUntilUpToDate(t *testing.T) {
	t.Helper()
	must.Until(t, "the second server has all objects", func() bool {
		list, err := s.list(t, metav1.ListOptions{ResourceVersion: "0"})
		return err == nil && len(list.Items) == len(s.created)
	})
}
