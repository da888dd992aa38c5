// JSON; of what is too large, the beginning, and how much is left out.

package recorder

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

const (
	shownText   = 1_000  // bytes of a text
	shownObject = 16_000 // bytes of an object, more or less
)

// shown is an object in JSON, shortened, and without the managed fields. It is nil if
// there is none.
func shown(obj any) json.RawMessage {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	object, ok := obj.(runtime.Object)
	if !ok {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		content = map[string]any{"(left out)": err.Error()}
	}
	content = maps.Clone(content) // of an unstructured object it is the object's own, which is shared
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		content["metadata"] = metadata
	}
	room := shownObject
	kept := map[string]any{"metadata": shorten(content["metadata"], &room)} // first: it tells two versions apart
	delete(content, "metadata")
	maps.Copy(kept, shorten(content, &room).(map[string]any))
	return encode(kept)
}

// fields are those of something that is shown, in JSON.
type fields map[string]any

// encode is for what can always be encoded.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// shorten copies a value as far as there is room, and notes what is left out.
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
				return append(kept, "… left out: "+Count(len(value)-i, "more value"))
			}
			kept = append(kept, shorten(inner, room))
		}
		return kept
	case map[string]any:
		kept := map[string]any{}
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if *room <= 0 {
				kept["(left out)"] = Count(len(value)-i, "more field") // it is the first one in JSON
				break
			}
			*room -= len(name)
			kept[clip(name)] = shorten(value[name], room)
		}
		return kept
	}
	text, err := json.Marshal(value)
	if err != nil { // no value of JSON: a transform can put anything into an unstructured object
		return "(left out) " + err.Error()
	}
	*room -= max(0, min(len(text), shownText)-8)
	if len(text) > shownText {
		return clip(string(text))
	}
	return json.RawMessage(text)
}

// clip is a text, or its beginning: that does not hold the rest in memory.
func clip(text string) string {
	if len(text) <= shownText {
		return text
	}
	begin := strings.ToValidUTF8(text[:shownText], "")
	return begin + " … left out: " + Count(len(text)-len(begin), "more byte")
}

// Count is such as "1 object" or "2,000 objects".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// grouped writes a number with a comma before the last three digits.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
