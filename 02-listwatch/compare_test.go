package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

func TestCompareResourceVersionTakesNumbersOfAnyLengthAndNothingElse(t *testing.T) {
	long := "1" + "0000000000" + "0000000000" // more than 64 bits
	for _, pair := range [][2]string{{"9", "12"}, {"12", long}} {
		if order, err := resourceversion.CompareResourceVersion(pair[0], pair[1]); order != -1 || err != nil {
			t.Errorf("CompareResourceVersion(%q, %q) = %d, %v; want -1, nil", pair[0], pair[1], order, err)
		}
	}
	for _, version := range []string{"", "0", "09", "-1", "x", "1.2"} {
		if _, err := resourceversion.CompareResourceVersion(version, "12"); err == nil {
			t.Errorf("CompareResourceVersion(%q, 12) returns no error, want one", version)
		}
	}
}
