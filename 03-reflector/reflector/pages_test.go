// Lists in pages.

package reflector

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A watch cache that is ready ignores the limit of a LIST from "0". While it gets ready, such a LIST
// goes to etcd, which answers in pages. Then a reflector asks for pages as long as it lives.
func TestAFirstListInPagesIsFollowedByPages(t *testing.T) {
	for _, test := range []struct {
		name  string
		ready bool // the watch cache is ready at the first list; at the other lists it is
		want  []string
	}{
		{"ready", true, []string{"from 0, limit 500", "from 5, limit 0", "from 5, limit 0"}},
		{"not ready", false, []string{
			"from 0, limit 500", "from , limit 500, the next page",
			"from 5, limit 500", "from 5, limit 500",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			testBoth(t, func(t *testing.T, _ string, run runFunc) {
				var asked []string
				list := func(o metav1.ListOptions) (runtime.Object, error) {
					request := fmt.Sprintf("from %s, limit %d", o.ResourceVersion, o.Limit)
					if o.Continue != "" {
						request += ", the next page"
					}
					asked = append(asked, request)
					answer := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}}
					if !test.ready && len(asked) == 1 {
						answer.Items = []corev1.ConfigMap{*configMap("a")}
						answer.Continue = "b"
					}
					return answer, nil
				}
				expired := refuseWatch(apierrors.NewResourceExpired("too old")) // leads to another list
				runFor(t, time.Minute, run, plainListWatch(list, expired), newStore())
				if diff := cmp.Diff(test.want, asked[:min(len(asked), len(test.want))]); diff != "" {
					t.Errorf("the first lists (-want +got):\n%s", diff)
				}
			})
		})
	}
}
