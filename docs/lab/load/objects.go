// The ConfigMaps that are watched: each has a number, and says when it was sent.

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namespace is where all of them are.
const namespace = "load"

const (
	namePrefix     = "settings-"
	sentAnnotation = "example.com/sent" // nanoseconds since 1970
	payload        = 1024
)

// newConfigMap returns the n-th ConfigMap, sent now.
func newConfigMap(n int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        fmt.Sprintf("%s%06d", namePrefix, n),
			Annotations: map[string]string{sentAnnotation: strconv.FormatInt(time.Now().UnixNano(), 10)},
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

// number and version of a ConfigMap that a server has stored.
func number(object *corev1.ConfigMap) (n int, version uint64, err error) {
	n, err = strconv.Atoi(strings.TrimPrefix(object.Name, namePrefix))
	if err != nil {
		return 0, 0, fmt.Errorf("%s is none of our ConfigMaps", object.Name)
	}
	version, err = strconv.ParseUint(object.ResourceVersion, 10, 64)
	return n, version, err
}

// sent says when a ConfigMap was sent.
func sent(object *corev1.ConfigMap) time.Time {
	ns, _ := strconv.ParseInt(object.Annotations[sentAnnotation], 10, 64) // newConfigMap wrote it
	return time.Unix(0, ns)
}
