// The objects that the tests of this package put into queues.

package deltafifo_test

import "fmt"

// An item is a toy object. Its key is its name.
type item struct {
	name  string
	value int
}

// itemKey is the key function for items.
func itemKey(obj any) (string, error) {
	i, ok := obj.(item)
	if !ok {
		return "", fmt.Errorf("want an item, got %T", obj)
	}
	return i.name, nil
}
