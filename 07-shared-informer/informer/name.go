// The name of a handler in logs and metrics.

package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// nameForHandler is the result of the handler's method Name, if it has one, or else the name that
// client-go gives it. Most handlers are of the type ResourceEventHandlerFuncs. The type does not
// tell them apart, and so the name says where the functions are.
func nameForHandler(handler cache.ResourceEventHandler) string {
	switch h := handler.(type) {
	case interface{ Name() string }:
		return h.Name()
	case cache.ResourceEventHandlerFuncs:
		if name := nameForFunctions(h.AddFunc, h.UpdateFunc, h.DeleteFunc); name != "" {
			return name
		}
	case *cache.ResourceEventHandlerFuncs:
		return nameForHandler(*h)
	default:
		value := reflect.ValueOf(handler)
		if value.Kind() == reflect.Pointer && !value.IsNil() {
			value = value.Elem()
		}
		if name := value.Type().Name(); name != "" {
			return value.Type().PkgPath() + "." + name
		}
	}
	return fmt.Sprintf("%T", handler)
}

// nameForFunctions is the function, the type or the package that contains all of these functions.
// If they are in several places, it is the list of their names.
func nameForFunctions(functions ...any) string {
	var names, places []string
	for _, function := range functions {
		f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
		if f == nil { // the function is nil
			continue
		}
		names = append(names, f.Name())
		places = append(places, f.Name()[:strings.LastIndexByte(f.Name(), '.')])
	}
	places = slices.Compact(places)
	if len(places) == 1 {
		return places[0]
	}
	return strings.Join(names, "+")
}
