// Tests of the .cluster folder.

package state

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestClearKeepsLogsOnly(t *testing.T) {
	d := Of(t.TempDir())
	if err := d.Clear(); err != nil {
		t.Fatalf("nothing there: %v", err)
	}
	if err := d.SetProvider("local"); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Provider(); got != "local" || err != nil {
		t.Fatalf("Provider() = %q, %v", got, err)
	}
	for _, sub := range []string{"logs", "data"} {
		if err := os.MkdirAll(filepath.Join(string(d), sub, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Clear(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(string(d))
	if err != nil || len(left) != 1 || left[0].Name() != "logs" {
		t.Fatalf("left: %v, %v", left, err)
	}
	if got, err := d.Provider(); got != "" || err != nil {
		t.Fatalf("Provider() = %q, %v", got, err)
	}
}

func join(t *testing.T, d Dir) *os.File {
	t.Helper()
	user, err := d.Join()
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func TestLastUserRemovesATemporaryCluster(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(Dir) error // while two use it
		want bool            // when the last one leaves
	}{
		{"temporary", Dir.SetTemporary, true},
		{"not temporary", func(Dir) error { return nil }, false},
		{"kept", func(d Dir) error { return errors.Join(d.SetTemporary(), d.Keep(), d.Keep()) }, false},
		{"gone", func(d Dir) error { return errors.Join(d.SetTemporary(), d.Clear()) }, false},
		{"another's", func(d Dir) error {
			if err := errors.Join(d.SetTemporary(), d.Clear(), d.SetTemporary()); err != nil {
				return err
			}
			user, err := d.Join()
			return errors.Join(err, user.Close())
		}, false},
	} {
		d := Of(t.TempDir())
		if err := d.SetProvider("local"); err != nil {
			t.Fatal(err)
		}
		first, last := join(t, d), join(t, d)
		if err := c.do(d); err != nil {
			t.Fatal(err)
		}
		if remove, err := d.Leave(first); remove || err != nil {
			t.Errorf("%s: the first one to leave: %v, %v", c.name, remove, err)
		}
		if remove, err := d.Leave(last); remove != c.want || err != nil {
			t.Errorf("%s: the last one to leave: %v, %v; want %v", c.name, remove, err, c.want)
		}
	}
}
