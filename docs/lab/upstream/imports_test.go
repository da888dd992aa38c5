package upstream

// The imports of client-go's tests. These tests are not files of this module, so without these
// lines, `go mod tidy` would remove the libraries from go.mod, and `go test` would use a cached
// result although our code has changed.
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
