// A LIST in pages that takes too long.

package versions

import (
	"encoding/base64"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/must"
)

// The version in the token of the first page is replaced by a compacted one, as if the pages had
// taken too long. The error has another token. It leads to the next object, in a newer state.
func TestATokenThatHasExpired(t *testing.T) {
	s := startServers(t)
	first, err := s.list(t, metav1.ListOptions{Limit: 1})
	must.NoError(t, err)
	text, err := base64.RawURLEncoding.DecodeString(first.Continue)
	must.NoError(t, err)
	old := strings.Replace(string(text), `"rv":`+first.ResourceVersion, `"rv":`+s.versions["compacted"], 1)
	newest := s.write(t)
	_, err = s.list(t, metav1.ListOptions{Limit: 1, Continue: base64.RawURLEncoding.EncodeToString([]byte(old))})
	if !apierrors.IsResourceExpired(err) || status(err).Continue == "" {
		t.Fatalf("LIST with the token %s = %v, want 410 Expired with a token", old, err)
	}
	second, err := s.list(t, metav1.ListOptions{Limit: 1, Continue: status(err).Continue})
	must.NoError(t, err)
	if len(second.Items) != 1 || first.Items[0].Name != "a" || second.Items[0].Name != "b" {
		t.Errorf("the pages are %v and %v, want one object each: a, b", first.Items, second.Items)
	}
	if got := state(t, second.ResourceVersion, first.ResourceVersion, newest); got != "newest" {
		t.Errorf("the second page is %q, want %q: not of the version of the first page", got, "newest")
	}
}
