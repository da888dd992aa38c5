// What an API server answers to a LIST and to a WATCH.

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

// older compares versions, even of two resources: both are in one etcd here.
func older(t *testing.T, version, than string) bool {
	t.Helper()
	order, err := resourceversion.CompareResourceVersion(version, than)
	must.Do(t, err)
	return order < 0
}

// state says which state a version is: asked is what the request had, and newest the version
// of a write right before it.
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

// try repeats what chance has spoiled: the watch cache may catch up between a write and the
// request, and what is allowed to be older is the newest then. A busy machine gives it the time.
func try(want string, observe func() string) (got string) {
	for range 20 {
		if got = observe(); got == want || !strings.HasPrefix(got, "newest") {
			break
		}
	}
	return got
}

func status(err error) metav1.Status { return err.(apierrors.APIStatus).Status() }

func code(err error) string { return strconv.Itoa(int(status(err).Code)) }

func TestListTable(t *testing.T) {
	s := startServers(t)
	for _, row := range tableOf(t, "LIST") {
		for i, page := range []string{"", "limit", "continue"} {
			compare(t, row, 2+i, try(row[2+i], func() string {
				if strings.HasPrefix(row[2+i], "any") || strings.HasPrefix(row[2+i], "≥ V") {
					defer s.hold(t)() // what is allowed to be older is older
				}
				return s.listState(t, row[0], row[1], page)
			}))
		}
	}
}

// listState describes the answer to a LIST in the words of the table.
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
		must.Do(t, err)
		o.Continue = first.Continue
	}
	newest, before := s.write(t), s.counted(t)
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
	later := func(v string) bool { return older(t, list.ResourceVersion, v) }
	exist := slices.DeleteFunc(slices.Clone(s.created), later)
	if len(first.Items)+len(list.Items)+int(ptr.Deref(list.RemainingItemCount, 0)) != len(exist) {
		words = append(words, "with other objects")
	}
	after := s.counted(t)
	for _, storage := range []string{"watchcache", "etcd"} {
		if after[storage] != before[storage] {
			words = append(words, strings.TrimPrefix(storage, "watch"))
		}
	}
	return strings.Join(words, ", ")
}

var counter = regexp.MustCompile(`(?m)^apiserver_storage_list_total{.*"podtemplates",storage="(\w+)"} (\d+)$`)

// counted is how often the second server has listed objects, from its watch cache and from etcd.
func (s *servers) counted(t *testing.T) map[string]string {
	t.Helper()
	counts := map[string]string{}
	for _, match := range counter.FindAllStringSubmatch(s.metrics(t), -1) {
		counts[match[1]] = match[2]
	}
	return counts
}

func (s *servers) metrics(t *testing.T) string {
	t.Helper()
	text, err := s.second.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	must.Do(t, err)
	return string(text)
}

// watch opens a watch at the second server, and returns its events up to the last one. Opened is
// called in between.
func (s *servers) watch(t *testing.T, o metav1.ListOptions, opened func(), last func(watch.Event) bool) (
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
		if all = append(all, e); last(e) {
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
			o.TimeoutSeconds = ptr.To[int64](60) // it only ends a hang
			if row[1+i] == "nothing" {
				o.TimeoutSeconds = ptr.To[int64](4)
			}
			compare(t, row, 1+i, try(row[1+i], func() string { return s.watchState(t, o) }))
		}
	}
}

// watchState describes the events of a WATCH in the words of the table.
func (s *servers) watchState(t *testing.T, o metav1.ListOptions) string {
	t.Helper()
	newest, added, end, complete := s.write(t), 0, "", false
	_, err := s.watch(t, o, func() {
		_, err := s.first.CoreV1().PodTemplates("default").Patch(t.Context(), "d", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"last":"`+newest+`"}}}`), metav1.PatchOptions{})
		must.Do(t, err)
	}, func(e watch.Event) bool {
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
	must.Do(t, err)
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

// options are those of a query.
func options(t *testing.T, query string) (o metav1.ListOptions) {
	t.Helper()
	values, err := url.ParseQuery(query)
	must.Do(t, err)
	must.Do(t, scheme.ParameterCodec.DecodeParameters(values, corev1.SchemeGroupVersion, &o))
	return o
}

// do sends a request, and returns how many objects came. It is -1 if a watch sends nothing.
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

// A watch without timeoutSeconds ends after --min-request-timeout or up to twice that. The second
// server has one second; the default is half an hour.
func TestTheServerEndsAWatchToo(t *testing.T) {
	s, start := startServers(t), time.Now()
	_, err := s.watch(t, metav1.ListOptions{ResourceVersion: "0"}, func() {}, func(watch.Event) bool { return false })
	if took := time.Since(start); err != nil || took < time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}
