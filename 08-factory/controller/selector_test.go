// Claims about the relation of pods and Services.

package main

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// A pod loses its label, so that the new object matches no Service. The step looks at the Service all
// the same.
func TestTheOldPodBringsTheServiceThatItLeaves(t *testing.T) {
	web := map[string]string{"app": "web"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web-0", Labels: web}}
	client := fake.NewClientset(pod, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: web},
	}, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "without-a-selector"}})
	out := &record.Buffer{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- stepSelector(ctx, &step.Env{Env: &play.Env{Out: out}, Client: client}) }()
	t.Cleanup(func() {
		cancel()
		must.NoError(t, <-ended)
	})
	printed := func(line string) func() bool {
		return func() bool { return strings.Contains(out.String(), line+"\n") }
	}
	must.Until(t, "the Service has its pod", printed("web : pods: 1"))
	must.Until(t, "the Service without a selector has none", printed("without-a-selector : pods: 0"))
	pod = pod.DeepCopy()
	pod.Labels = nil
	lost := printed("web : pods: 0")
	must.Until(t, "the Service has lost its pod", func() bool {
		// The fake loses an event that comes before the watch, so the test repeats the update.
		_, err := client.CoreV1().Pods("ns").Update(t.Context(), pod, metav1.UpdateOptions{})
		must.NoError(t, err)
		return lost()
	})
}

func TestASelectorFromAnEmptySetSelectsEverything(t *testing.T) {
	if !labels.SelectorFromSet(nil).Matches(labels.Set{"app": "web"}) {
		t.Error("SelectorFromSet(nil) does not match app=web, want a match")
	}
	if labels.Nothing().Matches(labels.Set{"app": "web"}) {
		t.Error("Nothing() matches app=web, want no match")
	}
}
