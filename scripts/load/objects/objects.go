// Package objects makes the ConfigMaps that are watched under load, and reads
// them: each has a number, and says when it was sent.
package objects

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is where all of them are.
const Namespace = "load"

const (
	prefix  = "settings-"
	sent    = "example.com/sent" // an annotation: nanoseconds since 1970
	payload = 1024
)

// New returns the n-th ConfigMap, sent now.
func New(n int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   Namespace,
			Name:        prefix + fmt.Sprintf("%06d", n),
			Annotations: map[string]string{sent: strconv.FormatInt(time.Now().UnixNano(), 10)},
		},
		Data: map[string]string{"text": text(n)},
	}
}

// text is always the same for n, and nothing that could be compressed much.
func text(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), 0))
	b := make([]byte, payload)
	for i := range b {
		b[i] = byte('!' + random.IntN('~'-'!'))
	}
	return string(b)
}

// Number and version of a ConfigMap that New has made and a server has stored.
func Number(object metav1.Object) (n int, version uint64, err error) {
	n, err = strconv.Atoi(strings.TrimPrefix(object.GetName(), prefix))
	if err != nil {
		return 0, 0, fmt.Errorf("%s is none of our ConfigMaps", object.GetName())
	}
	version, err = strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	return n, version, err
}

// Sent says when a ConfigMap was sent.
func Sent(object metav1.Object) time.Time {
	ns, _ := strconv.ParseInt(object.GetAnnotations()[sent], 10, 64) // New wrote it
	return time.Unix(0, ns)
}
