package main

import "example.com/informer/06-processor/processor"

// ways are the two ways to bring a notification to a handler.
var ways = []struct {
	name      string
	newFanout func() processor.Fanout
}{
	{"client-go's way", processor.NewChannels},
	{"our way", processor.NewLog},
}
