// How a handler is called in the log, and in metrics.

package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// nameForHandler is what a handler calls itself, if it has a method Name, or else
// the name that client-go gives it. Most handlers are made of functions, and all
// of these have the same type. They are named after where the functions are.
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

// nameForFunctions is the function, the type or the package that all of these
// functions are in. If they are in several, it is all of their names.
func nameForFunctions(functions ...any) string {
	var names, places []string
	for _, function := range functions {
		if f := runtime.FuncForPC(reflect.ValueOf(function).Pointer()); f != nil { // it is nil for no function
			names = append(names, f.Name())
			places = append(places, f.Name()[:strings.LastIndexByte(f.Name(), '.')])
		}
	}
	if places = slices.Compact(places); len(places) == 1 {
		return places[0]
	}
	return strings.Join(names, "+")
}
