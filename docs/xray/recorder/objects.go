// The objects of records as JSON. Of a large object it has the beginning, and says how much is left
// out.

package recorder

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

const (
	maxObjectBytes = 16_000 // of an object, approximately
	maxTextBytes   = 1_000  // of each text
)

// An Object is the object of a record, before and after the change. Both are JSON, and shortened.
type Object struct {
	Key    string          `json:"key"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Shown reports whether there is something to show.
func (o Object) Shown() bool { return o.Before != nil || o.After != nil }

// An objectEncoder encodes the objects of events. It encodes each object once, because most objects
// have several records.
type objectEncoder struct {
	kind, namespace string
	encoded         map[any]json.RawMessage // by object
}

func newObjectEncoder(o Options) *objectEncoder {
	return &objectEncoder{kind: o.Kind, namespace: o.Namespace, encoded: map[any]json.RawMessage{}}
}

// encode returns the object of a change, before and after it. No change is nil.
func (o *objectEncoder) encode(n *processor.Notification) Object {
	switch {
	case n == nil:
		return Object{}
	case n.Kind == processor.Deleted:
		return Object{Key: n.Key, Before: o.encodeOnce(n.New)}
	}
	return Object{Key: n.Key, Before: o.encodeOnce(n.Old), After: o.encodeOnce(n.New)}
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

// clip returns a short text as it is, and of a long text a copy of its beginning.
func clip(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	begin := strings.ToValidUTF8(text[:maxTextBytes], "")
	return begin + " … left out: " + Plural(len(text)-len(begin), "more byte")
}

// Plural returns a number with its noun, such as "1 object" or "2,000 objects".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return withCommas(n) + " " + noun + "s"
}

// withCommas writes a number with a comma before each group of three digits.
func withCommas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", withCommas(n/1000), n%1000)
}

// encode encodes a value that can always be encoded.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
