package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/step"
)

// stepWire watches without client-go. It only uses the http.Client of client-go, which has the
// certificates of the cluster.
func stepWire(ctx context.Context, env *step.Env) error {
	client, err := rest.HTTPClientFor(env.Config)
	if err != nil {
		return err
	}
	path := "/api/v1/namespaces/" + env.Namespace +
		"/configmaps?watch=true&fieldSelector=metadata.name!=kube-root-ca.crt"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, env.Config.Host+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	fmt.Fprintln(env.Out, "GET", path)
	fmt.Fprintln(env.Out, response.Proto, response.Status, response.Header.Get("Content-Type"))

	lines := bufio.NewScanner(response.Body) // a line is an event; the body ends when the watch ends
	lines.Buffer(nil, 4<<20)                 // an object can be that large
	for lines.Scan() {
		var event struct {
			Type   string
			Object struct {
				Kind     string
				Metadata struct{ Name string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "%.40s…\n", lines.Text())
		fmt.Fprintf(env.Out, "%s : %s %s\n", event.Type, event.Object.Kind, event.Object.Metadata.Name)
	}
	return ctx.Err()
}
