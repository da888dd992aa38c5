package survival_test

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"example.com/informer/08-factory/controller/survival"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // this logger writes nothing
	survival.SideBySide()
	goleak.VerifyTestMain(m)
}

// A controller of another kind passes as well.
func TestServices(t *testing.T) {
	survival.Test(t, survival.Controller{
		Start:      startEntrances,
		Definition: "testdata/entrances/definition.yaml",
		Manifests:  "testdata/entrances",
		Exact:      []string{"spec.selector"},
	})
}
