package survival

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// A family is an object, and the children that it wants.
type family struct {
	object   *unstructured.Unstructured
	status   map[string]any // what the object's status must have at least; nil: not judged
	children []*unstructured.Unstructured
}

// child returns the child of this name, or nil.
func (f *family) child(name string) *unstructured.Unstructured {
	i := slices.IndexFunc(f.children, func(c *unstructured.Unstructured) bool { return c.GetName() == name })
	if i < 0 {
		return nil
	}
	return f.children[i]
}

// readFamily reads a file of the folder Manifests.
func readFamily(folder, name string) (*family, error) {
	documents, err := readYAML(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	if len(documents) < 2 {
		return nil, fmt.Errorf("%s has %d documents, want an object and its children", name, len(documents))
	}
	f := &family{object: documents[0], children: documents[1:]}
	f.status, _, err = unstructured.NestedMap(f.object.Object, "status")
	unstructured.RemoveNestedField(f.object.Object, "status")
	return f, err
}

func readYAML(path string) (documents []*unstructured.Unstructured, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		document := &unstructured.Unstructured{}
		err := decoder.Decode(document)
		switch {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", path, err)
		case len(document.Object) > 0:
			documents = append(documents, document)
		}
	}
}

// findRoles finds a child of the object that differs in the changed object, and one that is not
// there any more.
func findRoles(object, changed *family) (kept, dropped *unstructured.Unstructured, err error) {
	for _, child := range object.children {
		switch now := changed.child(child.GetName()); {
		case now == nil:
			dropped = child
		case !reflect.DeepEqual(now.Object, child.Object):
			kept = child
		}
	}
	switch {
	case kept == nil:
		err = errors.New("no child of object.yaml is in changed.yaml with another content")
	case dropped == nil:
		err = errors.New("all children of object.yaml are in changed.yaml: one must be gone")
	}
	return kept, dropped, err
}

// checkNames returns an error unless the names of both objects have dashes at which a controller
// must not cut them.
func checkNames(object, second *family) error {
	first, other := object.object.GetName(), second.object.GetName()
	switch {
	case !strings.Contains(first, "-"):
		return fmt.Errorf("the object in object.yaml has the name %s, want a name with a dash", first)
	case !strings.HasPrefix(other, first+"-"):
		return fmt.Errorf("the object in second.yaml has the name %s, want one that begins with %s-", other, first)
	default:
		return nil
	}
}

// content returns a merge patch with the fields of a manifest, without its metadata.
func content(manifest *unstructured.Unstructured) map[string]any {
	patch := manifest.DeepCopy().Object
	for _, field := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(patch, field)
	}
	return patch
}

// lacks returns what got lacks of want, or nil: a map may have more keys than those of want.
func lacks(got, want any, path string) error {
	switch want := want.(type) {
	case map[string]any:
		gotMap, _ := got.(map[string]any)
		for key, value := range want {
			if err := lacks(gotMap[key], value, path+"."+key); err != nil {
				return err
			}
		}
		return nil
	case []any:
		gotList, _ := got.([]any)
		if len(gotList) != len(want) {
			return fmt.Errorf("%s has %d elements, want %d", path, len(gotList), len(want))
		}
		for i, value := range want {
			if err := lacks(gotList[i], value, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	default:
		if got != want {
			return fmt.Errorf("%s is %s, want %s", path, inJSON(got), inJSON(want))
		}
		return nil
	}
}

// surplus returns an error if a map of got has a key that the same map of want does not have. path
// is where the map is, such as spec.selector.
func surplus(got, want map[string]any, path string) error {
	fields := strings.Split(path, ".")
	gotMap, _, err := unstructured.NestedMap(got, fields...)
	if err != nil {
		return err
	}
	wantMap, _, err := unstructured.NestedMap(want, fields...)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(gotMap)) {
		if _, ok := wantMap[key]; !ok {
			return fmt.Errorf("%s has the key %s, want only %q", path, key, slices.Sorted(maps.Keys(wantMap)))
		}
	}
	return nil
}

func inJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
