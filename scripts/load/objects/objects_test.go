package objects

import (
	"testing"
	"time"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	before := time.Now()
	object := New(4711)
	object.ResourceVersion = "12"
	if n, version, err := Number(object); n != 4711 || version != 12 || err != nil {
		t.Errorf("Number() = %d, %d, %v", n, version, err)
	}
	if at := Sent(object); at.Before(before.Round(0)) || time.Since(at) > time.Minute {
		t.Errorf("Sent() = %v", at)
	}
	if n := len(object.Data["text"]); n != 1024 || object.Data["text"] != New(4711).Data["text"] || object.Data["text"] == New(1).Data["text"] {
		t.Errorf("%d bytes of text, want 1,024, always the same for one, and others for another", n)
	}
}

func TestOtherConfigMapsHaveNoNumber(t *testing.T) {
	object := New(1)
	object.Name = "kube-root-ca.crt"
	if _, _, err := Number(object); err == nil {
		t.Error("no error")
	}
}
