// The settings of all controllers.

package main

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	// resync is the resync period of the informers.
	resync = 12 * time.Hour
	// workers is how many objects a controller handles at the same time.
	workers = 4
)

// trim is a transform. It removes the managed fields, which no controller reads.
func trim(obj any) (any, error) {
	if object, err := meta.Accessor(obj); err == nil {
		object.SetManagedFields(nil)
	}
	return obj, nil
}
