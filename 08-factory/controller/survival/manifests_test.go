package survival

import (
	"cmp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/informer/scripts/harness/must"
)

func TestLacks(t *testing.T) {
	got := map[string]any{
		"text":  "on Sunday",
		"ports": []any{map[string]any{"port": int64(80), "protocol": "TCP"}},
	}
	for _, test := range []struct {
		name      string
		want      any
		wantError string // empty: got lacks nothing
	}{
		{name: "a part of it", want: map[string]any{"text": "on Sunday"}},
		{name: "a part of an element", want: map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}},
		{
			name:      "another value",
			want:      map[string]any{"text": "on Monday"},
			wantError: `.text is "on Sunday", want "on Monday"`,
		},
		{name: "no such key", want: map[string]any{"copies": int64(2)}, wantError: `.copies is null, want 2`},
		{name: "an element less", want: map[string]any{"ports": []any{}}, wantError: `.ports has 1 elements, want 0`},
		{
			name:      "another element",
			want:      map[string]any{"ports": []any{map[string]any{"port": int64(81)}}},
			wantError: `.ports[0].port is 80, want 81`,
		},
	} {
		text := ""
		if err := lacks(got, test.want, ""); err != nil {
			text = err.Error()
		}
		if text != test.wantError {
			t.Errorf("%s: lacks() = %q, want %q", test.name, text, test.wantError)
		}
	}
}

func TestFindRoles(t *testing.T) {
	object, err := readFamily("testdata/entrances", "object.yaml")
	must.NoError(t, err)
	changed, err := readFamily("testdata/entrances", "changed.yaml")
	must.NoError(t, err)
	kept, dropped, err := findRoles(object, changed)
	must.NoError(t, err)
	if got, want := kept.GetName()+" "+dropped.GetName(), "my-shop-80 my-shop-443"; got != want {
		t.Errorf("findRoles() = %s, want %s", got, want)
	}
	if _, _, err := findRoles(object, object); err == nil || !strings.Contains(err.Error(), "changed.yaml") {
		t.Errorf("findRoles() of an object that does not change = %v, want an error that names changed.yaml", err)
	}
}

func TestCheckNames(t *testing.T) {
	named := func(name string) *family {
		f := &family{object: &unstructured.Unstructured{Object: map[string]any{}}}
		f.object.SetName(name)
		return f
	}
	for _, test := range []struct {
		object, second, wantError string
	}{
		{object: "my-shop", second: "my-shop-2"},
		{object: "shop", second: "shop-2", wantError: "object.yaml"},
		{object: "my-shop", second: "my-bank", wantError: "second.yaml"},
	} {
		text := "no error"
		if err := checkNames(named(test.object), named(test.second)); err != nil {
			text = err.Error()
		}
		if want := cmp.Or(test.wantError, "no error"); !strings.Contains(text, want) {
			t.Errorf("checkNames(%s, %s) = %s, want %s", test.object, test.second, text, want)
		}
	}
}

func TestSurplus(t *testing.T) {
	got := map[string]any{"spec": map[string]any{"selector": map[string]any{"app": "shop", "tier": "web"}}}
	for _, test := range []struct {
		selector  map[string]any
		wantError string // empty: got has nothing too much
	}{
		{selector: map[string]any{"app": "bank", "tier": "web"}},
		{selector: map[string]any{"app": "shop"}, wantError: `spec.selector has the key tier, want only ["app"]`},
	} {
		want := map[string]any{"spec": map[string]any{"selector": test.selector}}
		text := ""
		if err := surplus(got, want, "spec.selector"); err != nil {
			text = err.Error()
		}
		if text != test.wantError {
			t.Errorf("surplus() with %v = %q, want %q", test.selector, text, test.wantError)
		}
	}
}
