// The answers of an API server to LIST and WATCH.

package versions

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"example.com/informer/scripts/harness/must"
)

// older reports whether a version is older than another. The two may be versions of two resources,
// because here both resources are in the same etcd.
func older(t *testing.T, version, than string) bool {
	t.Helper()
	order, err := resourceversion.CompareResourceVersion(version, than)
	must.NoError(t, err)
	return order < 0
}

// state describes the version of an answer in the words of the tables. Asked is the version of the
// request, and newest is the version of a write right before the request.
func state(t *testing.T, version, asked, newest string) string {
	t.Helper()
	switch {
	case version == asked:
		return "= V"
	case !older(t, version, newest):
		return "newest"
	case asked == "" || asked == "0":
		return "any"
	case older(t, version, asked):
		return "older than V"
	}
	return "≥ V"
}

// retry observes a state again if it is not the wanted one and may depend on chance: between a
// write and a request, the watch cache may catch up. Then an answer that may be older is the
// newest. This happens on a busy machine.
func retry(want string, observe func() string) (got string) {
	for range 20 {
		got = observe()
		if got == want || !strings.HasPrefix(got, "newest") {
			return got
		}
	}
	return got
}

// status returns the status of an error of the API server.
func status(err error) metav1.Status { return err.(apierrors.APIStatus).Status() }

// code returns the HTTP status of an error of the API server.
func code(err error) string { return strconv.Itoa(int(status(err).Code)) }

func TestListTable(t *testing.T) {
	s := startServers(t)
	for _, row := range tableOf(t, "LIST") {
		for i, page := range []string{"", "limit", "continue"} {
			want := row[2+i]
			mayBeOlder := strings.HasPrefix(want, "any") || strings.HasPrefix(want, "≥ V")
			compare(t, row, 2+i, retry(want, func() string {
				if mayBeOlder {
					release := s.hold(t) // so that the answer is older
					defer release()
				}
				return s.listState(t, row[0], row[1], page)
			}))
		}
	}
}

// listState sends a LIST, and describes the answer in the words of the table. The parameters are
// the cells of the row for the version and resourceVersionMatch, and the column: a LIST without
// pages, the first page (limit), or a later one (continue).
func (s *servers) listState(t *testing.T, asked, match, page string) string {
	t.Helper()
	o := metav1.ListOptions{ResourceVersion: s.versions[asked],
		ResourceVersionMatch: metav1.ResourceVersionMatch(strings.TrimPrefix(match, "unset"))}
	var first corev1.PodTemplateList
	var err error
	switch page {
	case "limit":
		o.Limit = 1
	case "continue":
		first, err = s.list(t, metav1.ListOptions{Limit: 1})
		must.NoError(t, err)
		o.Continue = first.Continue
	}
	newest, before := s.write(t), s.listCounts(t)
	list, err := s.list(t, o)
	if err != nil {
		return code(err)
	}
	words := []string{state(t, list.ResourceVersion, s.versions[asked], newest)}
	if list.ResourceVersion == first.ResourceVersion {
		words[0] = "= first page"
	}
	if list.Continue != "" {
		words = append(words, "page")
	}
	objects := len(first.Items) + len(list.Items) + int(ptr.Deref(list.RemainingItemCount, 0))
	if objects != s.countAt(t, list.ResourceVersion) {
		words = append(words, "with other objects")
	}
	after := s.listCounts(t)
	if after["watchcache"] != before["watchcache"] {
		words = append(words, "cache")
	}
	if after["etcd"] != before["etcd"] {
		words = append(words, "etcd")
	}
	return strings.Join(words, ", ")
}

// countAt returns how many objects there were at a version.
func (s *servers) countAt(t *testing.T, version string) (count int) {
	t.Helper()
	for _, created := range s.created {
		if !older(t, version, created) {
			count++
		}
	}
	return count
}

var listMetric = regexp.MustCompile(`(?m)^apiserver_storage_list_total{.*"podtemplates",storage="(\w+)"} (\d+)$`)

// listCounts returns how often the second server has listed objects, from its watch cache and from
// etcd.
func (s *servers) listCounts(t *testing.T) map[string]string {
	t.Helper()
	counts := map[string]string{}
	for _, match := range listMetric.FindAllStringSubmatch(s.metrics(t), -1) {
		counts[match[1]] = match[2]
	}
	return counts
}

// metrics returns the metrics of the second server.
func (s *servers) metrics(t *testing.T) string {
	t.Helper()
	text, err := s.second.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	must.NoError(t, err)
	return string(text)
}

// watch opens a watch at the second server, and calls opened. It returns the events up to the first
// one for which isLast is true.
func (s *servers) watch(t *testing.T, o metav1.ListOptions, opened func(), isLast func(watch.Event) bool) (
	all []watch.Event, err error,
) {
	t.Helper()
	o.AllowWatchBookmarks = true
	w, err := s.second.CoreV1().PodTemplates("default").Watch(t.Context(), o)
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	opened()
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return all, apierrors.FromObject(e.Object)
		}
		all = append(all, e)
		if isLast(e) {
			break
		}
	}
	return all, nil
}

func TestWatchTable(t *testing.T) {
	s := startServers(t)
	for _, row := range tableOf(t, "WATCH") {
		plain := metav1.ListOptions{ResourceVersion: s.versions[row[0]]}
		streamed := plain
		streamed.SendInitialEvents = ptr.To(true)
		streamed.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		for i, o := range []metav1.ListOptions{plain, streamed} {
			o.TimeoutSeconds = ptr.To[int64](60) // only to end a hang
			if row[1+i] == "nothing" {
				o.TimeoutSeconds = ptr.To[int64](4)
			}
			compare(t, row, 1+i, retry(row[1+i], func() string { return s.watchState(t, o) }))
		}
	}
}

// watchState opens a watch, and describes its events in the words of the table.
func (s *servers) watchState(t *testing.T, o metav1.ListOptions) string {
	t.Helper()
	newest := s.write(t)
	changeLast := func() { // the event of this change is the last one
		_, err := s.first.CoreV1().PodTemplates("default").Patch(t.Context(), "d", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"last":"`+newest+`"}}}`), metav1.PatchOptions{})
		must.NoError(t, err)
	}
	added := 0        // the number of ADDED events
	end := ""         // the version of the bookmark at the end of the initial list
	complete := false // whether the last event has come
	_, err := s.watch(t, o, changeLast, func(e watch.Event) bool {
		object := e.Object.(*corev1.PodTemplate)
		if e.Type == watch.Added {
			added++
		} else if object.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			end = object.ResourceVersion
		}
		complete = object.Labels["last"] == newest
		return complete
	})
	switch {
	case err != nil:
		return "ERROR " + code(err)
	case !complete && added == 0:
		return "nothing"
	case complete && end != "" && added == len(s.created):
		return state(t, end, o.ResourceVersion, newest) + ": all, end, changes"
	case complete && added == len(s.created)-1-slices.Index(s.created, o.ResourceVersion):
		return "changes after V"
	}
	return "something else"
}

// The rows have a query and its error.
func TestErrorTable(t *testing.T) {
	s := startServers(t)
	list, err := s.list(t, metav1.ListOptions{Limit: 1})
	must.NoError(t, err)
	words := strings.NewReplacer("=V", "="+s.versions["V"], "=FUTURE", "="+s.versions["future"], "=OLD", "=1",
		"=TOKEN", "="+list.Continue)
	for _, row := range tableOf(t, "The errors") {
		verb := "LIST"
		if strings.HasPrefix(row[0], "watch") {
			verb = "WATCH"
		}
		_, err := s.do(t, verb, options(t, words.Replace(row[0])))
		got := code(err) + " " + string(apierrors.ReasonForError(err))
		if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			seconds, _ := apierrors.SuggestsClientDelay(err)
			got += ", cause ResourceVersionTooLarge, retryAfterSeconds " + strconv.Itoa(seconds)
		}
		compare(t, row, 1, got)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(row[2]), "…", ".*") + "$"
		if message := status(err).Message; !regexp.MustCompile(pattern).MatchString(message) {
			t.Errorf("%s: the page says %q, the server %q", row[0], row[2], message)
		}
	}
}

// options returns the options of a query.
func options(t *testing.T, query string) (o metav1.ListOptions) {
	t.Helper()
	values, err := url.ParseQuery(query)
	must.NoError(t, err)
	must.NoError(t, scheme.ParameterCodec.DecodeParameters(values, corev1.SchemeGroupVersion, &o))
	return o
}

// do sends a request, and returns the number of objects in the answer. It is -1 for a watch that
// sends nothing.
func (s *servers) do(t *testing.T, verb string, o metav1.ListOptions) (objects int, err error) {
	t.Helper()
	switch verb {
	case "WATCH":
		o.TimeoutSeconds = ptr.To[int64](15) // more than the three seconds in which a server gives up
		all, err := s.watch(t, o, func() {}, func(e watch.Event) bool { return e.Type == watch.Bookmark })
		return len(all) - 1, err // the last one is the bookmark
	case "LIST":
		list, err := s.list(t, o)
		return len(list.Items), err
	}
	_, err = s.second.CoreV1().PodTemplates("default").Get(t.Context(), strings.TrimPrefix(verb, "GET "),
		metav1.GetOptions{ResourceVersion: o.ResourceVersion})
	return len(s.created), err
}

// A server ends a watch without timeoutSeconds after --min-request-timeout, or up to twice this
// time. For the second server it is one second. The default is half an hour.
func TestTheServerEndsAWatchToo(t *testing.T) {
	s, start := startServers(t), time.Now()
	_, err := s.watch(t, metav1.ListOptions{ResourceVersion: "0"}, func() {}, func(watch.Event) bool { return false })
	if err != nil {
		t.Errorf("the watch has ended with the error %v, want none", err)
	}
	if took := time.Since(start); took < time.Second {
		t.Errorf("the watch has ended after %v, want at least 1s", took)
	}
}
