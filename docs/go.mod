module example.com/informer/docs

go 1.26.0
