//go:build race

package planted

func init() { race = true }
