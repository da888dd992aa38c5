module example.com/informer/docs

go 1.26.0

require (
	example.com/informer/01-deltafifo v0.0.0
	github.com/yuin/goldmark v1.8.7
	golang.org/x/tools v0.51.0
)

replace example.com/informer/01-deltafifo => ../01-deltafifo
