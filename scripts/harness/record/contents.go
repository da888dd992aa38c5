package record

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"
)

// Contents has an object for each version. All objects of one version must have the same contents.
type Contents map[string]Object

// Check finds objects that differ from an object of the same version. It adds the objects of new
// versions.
func (c Contents) Check(objects ...Object) []error {
	var found []error
	for _, o := range objects {
		known, ok := c[version(o)]
		if !ok {
			c[version(o)] = o
			continue
		}
		if known != o && !equality.Semantic.DeepEqual(known, o) {
			found = append(found, fmt.Errorf("%s: %s came with other contents before",
				cache.MetaObjectToName(o), version(o)))
		}
	}
	return found
}
