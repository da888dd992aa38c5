// What a reflector requests when, and which errors its handler gets: ours and client-go's, in
// fake time.

package versions

import (
	"cmp"
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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/reflector"
	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

var (
	expired   = apierrors.NewResourceExpired("too old")
	invalid   = apierrors.NewInvalid(schema.GroupKind{}, "", nil)
	forbidden = apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	internal  = apierrors.NewInternalError(errors.New("oh"))
	tooMany   = apierrors.NewTooManyRequests("slow down", 1)
	tooLarge  = apierrors.NewTimeoutError("Too large resource version: 12, current: 11", 1)
)

// A situation is how the first watches and lists go. All others go well. A watch is an error:
// refused; a Status: it ends with it; "ends": as usual; "short": at once.
type situation struct {
	watches []any
	lists   []error
}

// situations have the names that the page has for them.
var situations = map[string]situation{
	"the first list": {},
	"the first list gets 422: the server cannot stream":  {nil, []error{invalid}},
	"the first list gets 403":                            {nil, []error{forbidden}},
	"the first list gets EOF":                            {nil, []error{io.EOF}},
	"the first list gets “connection refused”":           {nil, []error{syscall.ECONNREFUSED}},
	"a watch ends":                                       {[]any{"ends"}, nil},
	"a watch ends in its first second, without an event": {[]any{"short"}, nil},
	"a watch sends ERROR 410":                            {[]any{expired.ErrStatus}, nil},
	"… and the list gets 410":                            {[]any{expired.ErrStatus}, []error{nil, expired}},
	"… and the list gets 504 “too large”":                {[]any{expired.ErrStatus}, []error{nil, tooLarge}},
	"a watch sends ERROR 429":                            {[]any{tooMany.ErrStatus}, nil},
	"a watch sends ERROR 500":                            {[]any{internal.ErrStatus}, nil},
	"a WATCH gets “connection refused”":                  {[]any{"ends", syscall.ECONNREFUSED}, nil},
	"a WATCH gets 429":                                   {[]any{"ends", tooMany}, nil},
	"a WATCH gets 410":                                   {[]any{"ends", expired}, nil},
	"a WATCH gets 403":                                   {[]any{"ends", forbidden}, nil},
	"a WATCH gets EOF":                                   {[]any{"ends", io.EOF}, nil},
	"a WATCH gets “unexpected EOF”":                      {[]any{"ends", io.ErrUnexpectedEOF}, nil},
}

// A server has a list of version 10, and its watches send an object of version 11.
type server struct {
	situation
	requests record.Lines
}

// next takes the first of a slice.
func next[T any](all *[]T) (first T) {
	if len(*all) > 0 {
		first, *all = (*all)[0], (*all)[1:]
	}
	return first
}

func (s *server) list(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.requests.Add("LIST %s", cmp.Or(o.ResourceVersion, `""`))
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}, next(&s.lists)
}

func (s *server) watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, verb := watch.NewFakeWithChanSize(3, false), "WATCH"
	if o.SendInitialEvents != nil {
		verb = "WATCH+"
	}
	s.requests.Add("%s %s", verb, cmp.Or(o.ResourceVersion, `""`))
	if verb == "WATCH+" {
		if err := next(&s.lists); err != nil {
			return nil, err
		}
		end := fakeapi.ConfigMap("", "10")
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.Action(watch.Bookmark, end)
	}
	what := next(&s.watches)
	if err, refused := what.(error); refused {
		return nil, err
	}
	if what != "short" {
		w.Add(fakeapi.ConfigMap("a", "11"))
	}
	if status, ok := what.(metav1.Status); ok {
		w.Error(&status)
	}
	if what != nil {
		w.Stop()
	}
	return w, nil
}

type noStreams struct{}

func (noStreams) IsWatchListSemanticsUnSupported() bool { return true }

// listerWatcher has streamed lists, or plain ones.
func listerWatcher(lw *cache.ListWatch, streams bool) cache.ListerWatcher {
	if streams {
		return lw
	}
	return cache.ToListWatcherWithWatchListSemantics(lw, noStreams{})
}

// usual is what a reflector logs when all goes well.
var usual = regexp.MustCompile(
	`"(The client used .*|Starting reflector|Listing and watching|Caches populated|Watch close|Exiting watch .*)"`)

// run runs a reflector through a situation, for a minute. Without a handler it has its own.
func run(t *testing.T, ours, streams bool, name string, handler func(context.Context, error)) (
	requests, logged []string,
) {
	t.Helper()
	what, known := situations[name]
	if !known {
		t.Fatalf("the page has a row %q", name)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &server{situation: what}
		lw := listerWatcher(&cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, streams)
		runs := reflector.New(reflector.Options{ListerWatcher: lw, WatchErrorHandler: handler,
			Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}).Run
		if !ours {
			informer := cache.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, nil)
			if handler != nil {
				must.Do(t, informer.SetWatchErrorHandlerWithContext(
					func(ctx context.Context, _ *cache.Reflector, err error) { handler(ctx, err) }))
			}
			runs = informer.RunWithContext
		}
		var lines record.Lines
		logger := funcr.New(func(_, line string) {
			if !usual.MatchString(line) {
				lines.Add("%s", line)
			}
		}, funcr.Options{Verbosity: 4})
		stop := must.Run(t, func(ctx context.Context) { runs(klog.NewContext(ctx, logger)) })
		time.Sleep(time.Minute)
		requests, logged = s.requests.Take(), lines.Take()
		stop()
	})
	return requests, logged
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
			seen := "nothing"
			if _, logged := run(t, ours, false, row[0], nil); len(logged) > 0 {
				match := logLine.FindStringSubmatch(logged[0])
				seen = strings.Replace("V"+match[1]+" ", "V ", "error ", 1) + match[2]
			}
			compare(t, row, 2, seen)
		}
	}
}

// failing is a client whose requests all go wrong; it counts them.
func failing(t *testing.T, rule httpfault.Rule) (client kubernetes.Interface, tries *int) {
	transport := httpfault.New(nil)
	tries = new(int)
	transport.SetRule(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		*tries++
		return rule(r, next)
	})
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{QPS: -1}, &http.Client{Transport: transport})
	must.Do(t, err)
	return client, tries
}

// The REST client repeats a LIST that is too large ten times, as each 5xx with a Retry-After.
// On a real server each try takes three seconds more.
func TestTheRESTClientRepeatsAListThatIsTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		client, tries := failing(t, httpfault.Refuse(tooLarge))
		_, err := client.CoreV1().PodTemplates("").List(t.Context(), metav1.ListOptions{ResourceVersion: "12"})
		took := time.Since(start).Round(time.Second)
		expect.That(t, *tries == 11 && took == 10*time.Second && apierrors.IsTimeout(err),
			"%d tries in %v: %v", *tries, took, err)
	})
}

// A WATCH without an answer is repeated ten times if the connection was closed or timed out.
// Then it is a watch that has ended, and no error. All else is an error at once.
func TestWhatTheRESTClientMakesOfABrokenConnection(t *testing.T) {
	for broken, repeats := range map[error]bool{
		io.EOF: true, syscall.ECONNRESET: true, os.ErrDeadlineExceeded: true, // i/o timeout
		syscall.ECONNREFUSED: false, syscall.ENETUNREACH: false, &net.DNSError{Err: "no such host"}: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			client, tries := failing(t,
				func(*http.Request, http.RoundTripper) (*http.Response, error) { return nil, broken })
			w, err := client.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
			if took := time.Since(start).Round(time.Second); repeats {
				must.Do(t, err)
				_, open := <-w.ResultChan()
				expect.That(t, *tries == 11 && took == 10*time.Second && !open,
					"%v: %d tries in %v", broken, *tries, took)
			} else {
				expect.That(t, *tries == 1 && errors.Is(err, broken), "%v: %d tries, and %v", broken, *tries, err)
			}
		})
	}
}

func TestClientGoSaysThatPagesComeFromEtcd(t *testing.T) {
	must.Say(t, "reflector.go", "paginated lists are always served directly from etcd")
}
