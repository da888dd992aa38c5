package survival

import (
	"strings"
	"testing"

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
		{name: "no such key", want: map[string]any{"copies": int64(2)}, wantError: `.copies is <nil>, want 2`},
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
