package cable_test

import (
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/03-reflector/cable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPullAndPlug(t *testing.T) {
	line, err := cable.New(kubetest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	list := func() error {
		_, err := line.Session.OwnConfigMaps().ListWithContext(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := list(); err != nil || line.Refused() {
		t.Errorf("plugged in: error %v, refused %t", err, line.Refused())
	}
	line.Flicker()
	if err := list(); err != nil {
		t.Errorf("after a flicker: %v", err)
	}
	line.Pull()
	if err := list(); err == nil || !line.Refused() {
		t.Errorf("pulled out: error %v, refused %t; want an error, and that it was refused", err, line.Refused())
	}
	line.Plug()
	if err := list(); err != nil {
		t.Errorf("plugged in again: %v", err)
	}
	if line.Asked.Lists() < 4 {
		t.Errorf("counted %s, want four lists at least", &line.Asked)
	}
}
