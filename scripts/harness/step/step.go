// Package step runs the steps of a chapter on a cluster. It is package play with clients, and with
// a namespace for each step.
package step

import (
	"context"
	"flag"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/step/play"
)

// An Env is what a step works with. A step that is Offline can use only Out and On.
type Env struct {
	*play.Env
	Client    kubernetes.Interface
	Config    *rest.Config // for other clients than Client
	Namespace string       // the namespace of this step; it is removed afterwards

	// Requests counts the requests of Client, and of all clients that are made from Config.
	Requests *fault.Requests

	proxy *fault.Proxy // the proxy of DisconnectableClient
}

// Main runs the chapter as the command line asks, and exits.
func Main(c play.Chapter) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		markLog(os.Stderr)
	}
	play.Main(c)
}

// OnCluster returns the chapter with flags that choose a cluster. Each of its steps gets a namespace
// there, unless it is Offline.
func OnCluster(c play.Chapter) play.Chapter {
	var options session.Options
	ownFlags := c.Flags
	c.Flags = func(flags *flag.FlagSet) {
		options.Flags(flags)
		if ownFlags != nil {
			ownFlags(flags)
		}
	}
	c.Connect = func(ctx context.Context, patience time.Duration) (play.Cluster, error) {
		opts := options
		opts.Patience = patience
		s, err := session.Open(ctx, opts)
		return &cluster{Session: s}, err
	}
	return c
}

// WithEnv returns the program of a step that works with an Env of this package.
func WithEnv(run func(ctx context.Context, env *Env) error) func(context.Context, *play.Env) error {
	return func(ctx context.Context, played *play.Env) error {
		env, err := newEnv(played)
		if err != nil {
			return err
		}
		defer env.proxy.Close()
		return run(ctx, env)
	}
}

// A cluster is a session, and the counter of the step's requests.
type cluster struct {
	*session.Session
	requests fault.Requests
}

func (c *cluster) Namespace() string { return c.Session.Namespace }
func (c *cluster) Watching() bool    { return c.requests.Watching() }

// newEnv returns an Env with clients of its own, so that the requests of the step are counted,
// and those of the player are not.
func newEnv(played *play.Env) (*Env, error) {
	c, ok := played.Cluster.(*cluster)
	if !ok {
		return &Env{Env: played, Requests: &fault.Requests{}, proxy: fault.New("")}, nil
	}
	config := rest.CopyConfig(c.Config)
	config.Wrap(c.requests.Wrap)
	proxy, err := fault.For(config)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Env{
		Env:       played,
		Client:    client,
		Config:    config,
		Namespace: c.Namespace(),
		Requests:  &c.requests,
		proxy:     proxy,
	}, nil
}

// A Cable connects a client with the API server.
type Cable struct {
	// Pull breaks all connections. From then on, the network is unreachable.
	Pull func()
	// Restore waits until the client has failed to reach the API server, and lets it reach the API
	// server again. After such a failure, a reflector has to list.
	Restore func()
}

// DisconnectableClient returns a client, and the cable through which all of its connections go.
func (e *Env) DisconnectableClient(ctx context.Context) (kubernetes.Interface, Cable, error) {
	config := rest.CopyConfig(e.Config)
	config.Dial = e.proxy.Dial
	client, err := kubernetes.NewForConfig(config)
	restore := func() {
		_ = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return e.proxy.DialFailed(), nil })
		e.proxy.Restore()
	}
	return client, Cable{Pull: e.proxy.Pull, Restore: restore}, err
}
