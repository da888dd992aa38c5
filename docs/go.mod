module example.com/informer/docs

go 1.26.0

require (
	example.com/informer/scripts/harness v0.0.0
	github.com/google/go-cmp v0.7.0
	github.com/yuin/goldmark v1.8.7
)

replace example.com/informer/scripts/harness => ../scripts/harness
