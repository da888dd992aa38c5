// JSON of objects. Of a large object it has the beginning, and says how much is left out.

package recorder

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

const maxObjectBytes = 16_000 // of an object, approximately

// An objectEncoder encodes the objects of events. It encodes each object once, because most objects
// have several records.
type objectEncoder struct {
	kind, namespace string
	encoded         map[any]json.RawMessage // by object
}

func newObjectEncoder(o Options) *objectEncoder {
	return &objectEncoder{kind: o.Kind, namespace: o.Namespace, encoded: map[any]json.RawMessage{}}
}

// encode returns the object of an event before and after it.
func (o *objectEncoder) encode(e *event) Object {
	if e.Type == "DELETED" {
		return Object{Key: e.Key, Before: o.encodeOnce(e.New)}
	}
	return Object{Key: e.Key, Before: o.encodeOnce(e.Old), After: o.encodeOnce(e.New)}
}

// encodeOnce returns nil for an object that must not be shown: a Secret, or an object of another
// namespace.
func (o *objectEncoder) encodeOnce(obj any) json.RawMessage {
	if o.kind == "Secret" || metadataOf(obj).GetNamespace() != o.namespace {
		return nil
	}
	if _, ok := o.encoded[obj]; !ok {
		o.encoded[obj] = encodeObject(obj)
	}
	return o.encoded[obj]
}

// encodeObject returns an object, or the object in a tombstone, as JSON: shortened, and without the
// managed fields. It returns nil if there is no object.
func encodeObject(obj any) json.RawMessage {
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
	content = maps.Clone(content) // an unstructured object returns its own map, which is shared
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		content["metadata"] = metadata
	}
	// The metadata comes first, because it has what tells two versions of an object apart.
	room := maxObjectBytes
	short := map[string]any{"metadata": shorten(content["metadata"], &room)}
	delete(content, "metadata")
	maps.Copy(short, shorten(content, &room).(map[string]any))
	return encode(short)
}

// shorten copies a value as far as there is room, and says how much it leaves out. It subtracts
// from room the bytes that it has used.
func shorten(value any, room *int) any {
	*room -= 8 // for every value
	switch value := value.(type) {
	case string:
		*room -= min(len(value), maxTextBytes)
		return clip(value)
	case []any:
		return shortenList(value, room)
	case map[string]any:
		return shortenMap(value, room)
	}
	return shortenOther(value, room)
}

func shortenList(values []any, room *int) []any {
	short := []any{}
	for i, value := range values {
		if *room <= 0 {
			return append(short, "… left out: "+Plural(len(values)-i, "more value"))
		}
		short = append(short, shorten(value, room))
	}
	return short
}

func shortenMap(values map[string]any, room *int) map[string]any {
	short := map[string]any{}
	for i, name := range slices.Sorted(maps.Keys(values)) {
		if *room <= 0 {
			short["(left out)"] = Plural(len(values)-i, "more field") // JSON sorts it to the front
			break
		}
		*room -= len(name)
		short[clip(name)] = shorten(values[name], room)
	}
	return short
}

// shortenOther shortens a number, a boolean, null, or any other value: a transform can put
// everything into an unstructured object, even a value that JSON does not have.
func shortenOther(value any, room *int) any {
	text, err := json.Marshal(value)
	if err != nil {
		return "(left out) " + err.Error()
	}
	*room -= max(0, min(len(text), maxTextBytes)-8)
	if len(text) > maxTextBytes {
		return clip(string(text))
	}
	return json.RawMessage(text)
}
