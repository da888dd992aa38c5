// Tests that a throw-away control plane ends with the process that started it.

package local

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// parentEnv holds, for the test binary in the role of the parent, the folder to
// start a control plane in.
const parentEnv = "LOCAL_TEST_PARENT"

func beParent() {
	dir := os.Getenv(parentEnv)
	_, _ = Start(context.Background(), Options{Dir: dir, APIOnly: true})
	os.Exit(1)
}

func TestEndsWithItsParent(t *testing.T) {
	dir := t.TempDir()
	assets(t, "exec sleep 1000", "exec sleep 1000")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"="+dir)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	api := recordOf(t, dir, APIServer)
	etcd := recordOf(t, dir, Etcd)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	if len(stillRunning([]target{api, etcd}, 10*time.Second)) != 0 {
		t.Error("left running after its parent was killed")
	}
}
