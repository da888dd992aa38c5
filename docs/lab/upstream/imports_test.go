package upstream

// What client-go's tests import. They are no files of this module, so nothing
// else would keep these libraries in go.mod, or have the tests run again when one
// of our parts has changed.
import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/util/sets"
	_ "k8s.io/client-go/tools/cache/testing"
	_ "k8s.io/klog/v2/ktesting"
	_ "k8s.io/klog/v2/textlogger"
	_ "k8s.io/utils/clock/testing"

	_ "example.com/informer/docs/lab/upstream/adapter"
)
