// macOS cannot end a process with its parent: there is nothing to test.

package local

const parentEnv = "LOCAL_TEST_PARENT"

func beParent() {}
