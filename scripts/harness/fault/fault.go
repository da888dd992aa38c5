// Package fault breaks, on purpose, what lies between a client and the API server: the connections
// (Proxy), the requests (Requests), and the events of a watch (Frames).
package fault
