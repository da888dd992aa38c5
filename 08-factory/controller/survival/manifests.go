package survival

import (
	"errors"
	"fmt"
	"io"
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
	status   map[string]any // what the object's status must have at least; nil: not checked
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
	if len(documents) == 0 {
		return nil, fmt.Errorf("%s has no object", name)
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
			return fmt.Errorf("%s is %#v, want %#v", path, got, want)
		}
		return nil
	}
}

// field returns the field of an object at a path such as spec.selector.
func field(object *unstructured.Unstructured, path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, strings.Split(path, ".")...)
	return value
}
