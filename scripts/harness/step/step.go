// Package step runs the steps of a chapter on a cluster. It is package play with clients, and with
// a namespace for each step.
package step

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/step/play"
)

// A Lesson is what a step works with. A step that is Offline can use only Out and On.
type Lesson struct {
	*play.Lesson
	Client    kubernetes.Interface
	Config    *rest.Config // for other clients than Client
	Namespace string       // the namespace of this step; it is removed afterwards

	// Requests counts the requests of Client, and of all clients that are made from Config.
	Requests *requests.Counter

	proxy *netfault.Proxy // the proxy of ClientOnCable
}

// A Step is a play.Step whose program gets a Lesson with a cluster.
type Step struct {
	Name, Title   string
	Run           func(ctx context.Context, l *Lesson) error
	Offline, Fold bool
	Speakers      []string
	Patience      time.Duration
}

// A Chapter is a play.Chapter of such steps.
type Chapter struct {
	Name, Title string
	Steps       []Step
	Files       fs.FS
	Flags       func(*flag.FlagSet)
}

// Main runs the chapter as the command line asks, and exits.
func Main(c Chapter) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		markLog(os.Stderr)
	}
	play.Main(c.ForPlayer())
}

// ForPlayer returns the chapter for the player, with the flags that choose a cluster.
func (c Chapter) ForPlayer() play.Chapter {
	var options session.Options
	played := play.Chapter{Name: c.Name, Title: c.Title, Files: c.Files}
	played.Flags = func(flags *flag.FlagSet) {
		options.Flags(flags)
		if c.Flags != nil {
			c.Flags(flags)
		}
	}
	played.Connect = func(ctx context.Context, patience time.Duration) (play.Cluster, error) {
		opts := options
		opts.Patience = patience
		s, err := session.Open(ctx, opts)
		return &cluster{Session: s}, err
	}
	for _, s := range c.Steps {
		played.Steps = append(played.Steps, s.played())
	}
	return played
}

// played returns the step for the player.
func (s Step) played() play.Step {
	run := func(ctx context.Context, l *play.Lesson) error {
		lesson, err := newLesson(l)
		if err != nil {
			return err
		}
		defer lesson.proxy.Close()
		return s.Run(ctx, lesson)
	}
	return play.Step{
		Name:     s.Name,
		Title:    s.Title,
		Run:      run,
		Offline:  s.Offline,
		Speakers: s.Speakers,
		Fold:     s.Fold,
		Patience: s.Patience,
	}
}

// A cluster is a session, and the counter of the step's requests.
type cluster struct {
	*session.Session
	requests requests.Counter
}

func (c *cluster) Namespace() string { return c.Session.Namespace }
func (c *cluster) Watching() bool    { return c.requests.Watching() }

// newLesson returns a lesson with clients of its own, so that the requests of the step are counted,
// and those of the player are not.
func newLesson(l *play.Lesson) (*Lesson, error) {
	c, ok := l.Cluster.(*cluster)
	if !ok {
		return &Lesson{Lesson: l, Requests: &requests.Counter{}, proxy: netfault.New("")}, nil
	}
	config := rest.CopyConfig(c.Config)
	c.requests.Count(config)
	proxy, err := netfault.For(config)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Lesson{
		Lesson:    l,
		Client:    client,
		Config:    config,
		Namespace: c.Namespace(),
		Requests:  &c.requests,
		proxy:     proxy,
	}, nil
}

// ClientOnCable returns a client whose connections all go through a proxy. The client loses the API
// server where the transcript says "> the cable is pulled out". It can reach the API server again
// where the transcript says "> the cable is plugged in", but not before it has failed to reach it.
// After such a failure, a reflector has to list.
func (l *Lesson) ClientOnCable(ctx context.Context) (kubernetes.Interface, error) {
	config := rest.CopyConfig(l.Config)
	config.Dial = l.proxy.Dial
	l.On("the cable is pulled out", l.proxy.Pull)
	l.On("the cable is plugged in", func() {
		_ = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return l.proxy.DialFailed(), nil })
		l.proxy.Restore()
	})
	return kubernetes.NewForConfig(config)
}
