// The requests of a reflector, and the errors that its handler gets: our reflector and client-go's,
// in fake time.

package versions

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/reflector"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// usualLines are the lines that a reflector writes to the log when all goes well.
var usualLines = regexp.MustCompile(
	`"(The client used .*|Starting reflector|Listing and watching|Caches populated|Watch close|Exiting watch .*)"`)

// run runs a reflector in a situation, for a minute. It returns the requests and the unusual log
// lines. If the handler is nil, the reflector has its default handler.
func run(t *testing.T, ours, streams bool, name string, handler func(context.Context, error)) (
	requests, logged []string,
) {
	t.Helper()
	situation, known := situations[name]
	if !known {
		t.Fatalf("the page has a row %q, and situations has no such name", name)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &server{situation: situation}
		lw := listerWatcher(&cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, streams)
		var lines record.Lines
		logger := funcr.New(func(_, line string) {
			if !usualLines.MatchString(line) {
				lines.Add("%s", line)
			}
		}, funcr.Options{Verbosity: 4})
		runReflector := theirReflector
		if ours {
			runReflector = ourReflector
		}
		reflect := runReflector(t, lw, handler)
		stop := must.Run(t, func(ctx context.Context) { reflect(klog.NewContext(ctx, logger)) })
		time.Sleep(time.Minute)
		requests, logged = s.requests.Take(), lines.Take()
		stop()
	})
	return requests, logged
}

// ourReflector returns the Run method of our reflector.
func ourReflector(_ *testing.T, lw cache.ListerWatcher, handler func(context.Context, error)) func(context.Context) {
	return reflector.New(reflector.Options{ListerWatcher: lw, WatchErrorHandler: handler,
		Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}).Run
}

// theirReflector returns the Run method of an informer of client-go.
func theirReflector(t *testing.T, lw cache.ListerWatcher, handler func(context.Context, error)) func(context.Context) {
	informer := cache.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, nil)
	if handler != nil {
		must.NoError(t, informer.SetWatchErrorHandlerWithContext(
			func(ctx context.Context, _ *cache.Reflector, err error) { handler(ctx, err) }))
	}
	return informer.RunWithContext
}

func TestWhatAReflectorRequests(t *testing.T) {
	for _, row := range tableOf(t, "What a reflector requests when") {
		for i, streams := range []bool{true, false} {
			for _, ours := range []bool{true, false} {
				requests, _ := run(t, ours, streams, row[0], func(context.Context, error) {})
				compare(t, row, 1+i, strings.Join(requests, ", "))
			}
		}
	}
}

var logLine = regexp.MustCompile(`^(?:"level"=(\d) )?"msg"="([^"]*)"`)

func TestWhichErrorsReachTheHandler(t *testing.T) {
	for _, row := range tableOf(t, "Which errors reach a WatchErrorHandler") {
		for _, ours := range []bool{true, false} {
			called := "no"
			run(t, ours, false, row[0], func(context.Context, error) { called = "yes" })
			compare(t, row, 1, called)
			_, logged := run(t, ours, false, row[0], nil)
			compare(t, row, 2, describeLog(t, logged))
		}
	}
}

// describeLog describes the first line of a log in the words of the table: the level and the
// message.
func describeLog(t *testing.T, lines []string) string {
	t.Helper()
	if len(lines) == 0 {
		return "nothing"
	}
	match := logLine.FindStringSubmatch(lines[0])
	if match == nil {
		t.Fatalf("the log line %q does not match %s", lines[0], logLine)
	}
	level, message := match[1], match[2]
	if level == "" {
		return "error " + message
	}
	return "V" + level + " " + message
}

// failingClient returns a client whose requests all get this answer, and its requests.
func failingClient(t *testing.T, answer fault.Answer) (client kubernetes.Interface, asked *fault.Requests) {
	asked = &fault.Requests{}
	asked.Add(fault.Rule{Answer: answer})
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{QPS: -1}, &http.Client{Transport: asked.Wrap(nil)})
	must.NoError(t, err)
	return client, asked
}

// The REST client repeats a LIST from a too large version ten times, as all requests that get 5xx
// with a Retry-After. On a real server, each try takes three seconds longer.
func TestTheRESTClientRepeatsAListThatIsTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		client, asked := failingClient(t, fault.Refuse(tooLarge))
		_, err := client.CoreV1().PodTemplates("").List(t.Context(), metav1.ListOptions{ResourceVersion: "12"})
		if !apierrors.IsTimeout(err) {
			t.Errorf("List() = %v, want a Timeout error", err)
		}
		wantTenRepeats(t, asked, time.Since(start))
	})
}

// wantTenRepeats wants eleven tries with a second between them.
func wantTenRepeats(t *testing.T, asked *fault.Requests, took time.Duration) {
	t.Helper()
	if tries := asked.Mark(); tries != 11 {
		t.Errorf("the client tried %d times, want 11", tries)
	}
	if took = took.Round(time.Second); took != 10*time.Second {
		t.Errorf("all tries took %v, want 10s", took)
	}
}

// The REST client repeats a WATCH without an answer ten times if the connection was closed or timed
// out. After that, it returns a watch that has ended, and no error. After other errors, it returns
// the error immediately.
func TestWhatTheRESTClientMakesOfABrokenConnection(t *testing.T) {
	watchOver := func(t *testing.T, broken error) (watch.Interface, *fault.Requests, error) {
		client, asked := failingClient(t,
			func(*http.Request, http.RoundTripper) (*http.Response, error) { return nil, broken })
		w, err := client.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
		return w, asked, err
	}
	for _, broken := range []error{io.EOF, syscall.ECONNRESET, os.ErrDeadlineExceeded /* i/o timeout */} {
		t.Run(broken.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w, asked, err := watchOver(t, broken)
				must.NoError(t, err)
				wantTenRepeats(t, asked, time.Since(start))
				if event, open := <-w.ResultChan(); open {
					t.Errorf("the watch has the event %v, want that it has ended", event)
				}
			})
		})
	}
	for _, broken := range []error{syscall.ECONNREFUSED, syscall.ENETUNREACH, &net.DNSError{Err: "no such host"}} {
		t.Run(broken.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, asked, err := watchOver(t, broken)
				if tries := asked.Mark(); tries != 1 {
					t.Errorf("the client tried %d times, want once", tries)
				}
				if !errors.Is(err, broken) {
					t.Errorf("Watch() = %v, want %v", err, broken)
				}
			})
		})
	}
}

func TestClientGoSaysThatPagesComeFromEtcd(t *testing.T) {
	must.FindInClientGo(t, "reflector.go", "paginated lists are always served directly from etcd")
}
