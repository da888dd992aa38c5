// What is too large to be kept and shown: its beginning, and how much is left out.

package xray

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	shownText   = 1_000  // bytes of a text
	shownObject = 16_000 // bytes of an object, more or less
)

// shown is an object in JSON, shortened, and without the managed fields. It is nil if it
// may not be shown.
func (s *Subject) shown(obj any) json.RawMessage {
	object, ok := withoutTombstone(obj).(runtime.Object)
	if !ok || !s.mayShow(object) {
		return nil
	}
	object = object.DeepCopyObject()
	about, _ := meta.Accessor(object) // mayShow has asked
	about.SetManagedFields(nil)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		content = map[string]any{"(left out)": err.Error()}
	}
	room := shownObject
	kept := map[string]any{"metadata": shorten(content["metadata"], &room)} // first: it tells two versions apart
	delete(content, "metadata")
	maps.Copy(kept, shorten(content, &room).(map[string]any))
	text, err := json.Marshal(kept)
	if err != nil {
		panic(err) // there is nothing in it that cannot be encoded
	}
	return text
}

// shorten copies a value of JSON as far as there is room, and says what is left out.
func shorten(value any, room *int) any {
	*room -= 8 // no value is for free
	switch value := value.(type) {
	case string:
		*room -= min(len(value), shownText)
		return clip(value)
	case []any:
		kept := []any{}
		for i, inner := range value {
			if *room <= 0 {
				return append(kept, "… left out: "+count(len(value)-i, "more value"))
			}
			kept = append(kept, shorten(inner, room))
		}
		return kept
	case map[string]any:
		kept := map[string]any{}
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if *room <= 0 {
				kept["(left out)"] = count(len(value)-i, "more field") // it is the first one in JSON
				break
			}
			*room -= len(name)
			kept[clip(name)] = shorten(value[name], room)
		}
		return kept
	}
	return value
}

// clip is a text, or its beginning: that does not hold the rest in memory.
func clip(text string) string {
	if len(text) <= shownText {
		return text
	}
	begin := strings.ToValidUTF8(text[:shownText], "")
	return begin + " … left out: " + count(len(text)-len(begin), "more byte")
}
